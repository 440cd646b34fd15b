"""Web pages to watch, play, enter contests and learn. Needs the extra ``web``.

The server renders all pages, and they work without scripts; with scripts, htmx replaces parts of them. Each section of
the site has a folder with its `Section`; `dicegym.web.application` combines them.
"""
