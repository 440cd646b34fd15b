"""Everything that is measured beside step rates: contests, servers, trainers, other libraries.

`modes` lists what can be measured, `plans` says how, `run` measures; `report` and `chart` show the result.
"""
