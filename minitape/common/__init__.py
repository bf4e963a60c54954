"""What every package may use, and which uses none of them: files, texts, threads.

``atomic_write`` writes a file whole or not at all, ``read_data`` reads files that others wrote, within bounds;
``translation`` looks up sentences in the language of the lessons; ``lazy_names`` loads names when they are first used;
``threads`` runs work in a thread, where there are threads; ``notebook`` is the notebook in which all that runs;
``api_suggestions`` knows what is written here for names of other tools.
"""
