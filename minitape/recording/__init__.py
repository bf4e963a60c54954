"""Recordings as they are read, in the same words for a tape, PyTorch, TensorFlow and JAX.

    ``recorded_rows``      a value that left, a share of an adjoint, a backward pass
    ``value_summary``      the elements of a value, and what they are
    ``sites``              places in the user's program, and the text that stands there
    ``variable_names``     what the program's variables hold
    ``memory_use``         the room that a recording takes

minitape's own tape becomes a recording when it is asked:

    ``tape_reachability``  which rows are on the tape, and which an adjoint reaches
    ``value_graph``        its rows as a graph, with what breaks on the edges; ``graph_nodes`` the parts of that
    ``function_bodies``    the edges into functions, loops and branches
    ``scalar_chains``      its long runs of scalar rows
    ``value_origins``      where values came from that have no row

A bridge writes its rows while a program runs (``bridges/recording.py``).
"""
