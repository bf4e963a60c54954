"""Recordings as they are read, in the same words for a tape, PyTorch, TensorFlow and JAX.

    ``rows``    a row (a leaf, or a result of an operation), a value that left, a backward pass
    ``values``  elements, and what they are
    ``sites``   places in the user's program, and the text that stands there; ``names`` what its variables hold
    ``tape``    minitape's own tape so, when it is asked: ``trace``, ``nodes``, ``bodies`` are its edges, into
                functions, loops and branches; ``chains`` its long runs of scalar rows; ``origins`` where values
                came from that have no row; ``held`` the room that it takes

A bridge writes its rows while a program runs (``bridges/recording.py``).
"""
