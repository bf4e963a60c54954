"""Provide helpers for files, text and threads. All packages may import them, but they import no other package.

``atomic_write`` writes a file either completely or not at all. ``read_data`` safely reads files from other people.
``script_json`` writes JSON that cannot end the script element of a page. ``translation`` translates sentences into the
user's language. ``lazy_names`` loads names on first use. ``threads`` starts worker threads where the platform supports
them. ``notebook`` detects whether the program is running in a notebook. ``api_suggestions`` suggests minitape's
counterparts for names from other libraries. ``shared_results`` stores results that several parts of a task need, such
as the explanations of a model's parameters. ``garbage_collection`` switches off the garbage collector while a large
result is built. ``grouping`` groups values that have the same key. ``syntax`` finds the nodes of a syntax tree by type.
``source_lines`` shows Python the lines of a program that is in no file.
"""
