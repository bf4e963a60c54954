"""Provide a uniform view of recordings from minitape's tape, PyTorch, TensorFlow and JAX.

    ``recorded_rows``      rows, escapes, shares of adjoints and backward passes
    ``value_summary``      the elements of a value, and whether they are zero or finite
    ``sites``              lines of the user's program, and their text
    ``variable_names``     the names and values of the program's variables
    ``access_paths``       the expressions through which the program accesses its objects
    ``expression_names``   the names of operands and results in the program's text
    ``memory_use``         the memory that a recording occupies

To convert minitape's own tape to a recording, explain uses these modules:

    ``tape_reachability``  the rows that are on the tape, and the rows that an adjoint reaches
    ``value_graph``        the tape's rows as a graph, with breaks on the edges (nodes and breaks: ``graph_nodes``)
    ``function_bodies``    the edges into functions, loops and branches
    ``scalar_chains``      long chains of scalar rows
    ``value_origins``      the origins of values without a row

A bridge writes its rows while the program runs (``bridges/recording.py``).
"""
