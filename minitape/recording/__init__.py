"""What was recorded, for whoever asks: the same words for a tape, PyTorch, TensorFlow and JAX.

    ``rows``    a row (a leaf, or a result of an operation), a value that left, a backward pass
    ``values``  elements, and what they are
    ``sites``   places in the user's program

A tape presents itself so when it is asked (``explain/zero_or_nan.py``); a bridge writes it while a program runs
(``bridges/recording.py``).
"""
