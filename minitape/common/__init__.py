"""Helpers for files, texts and threads. All packages may use them, and they use no other package.

``atomic_write`` writes a file completely or not at all. ``read_data`` reads files from other people, within limits.
``translation`` translates sentences into the language of the lessons. ``lazy_names`` loads names when they are first
used. ``threads`` runs work in a thread, on platforms that have threads. ``notebook`` finds the notebook in which the
program runs. ``api_suggestions`` suggests minitape's names for the names of other tools.
"""
