"""How fast this is, on this machine: every figure the median of several runs, side by side with known peers.

`modes` lists what can be measured, `plans` says how, `run` measures; `report` and `chart` show the result.
"""
