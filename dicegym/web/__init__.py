"""The pages for people: watch, play, enter and learn in a browser. Needs the extra ``web``.

Pages are made on the server and can be read without scripts; htmx swaps parts of them where a browser runs it. Each
section has a folder of its own, which says what it offers (`Section`); `dicegym.web.application` puts them together.
"""
