"""Why a gradient is None, zero, NaN or wrong: rows, checks in their order, and words; the same for every framework.

``question``   a row of a recording, what it was computed with, a question about it, and a finding
``checks``     the checks that a tape, PyTorch, TensorFlow and JAX share, each for one cause
``zero_nan``   which operation made a gradient zero or not finite
``suspects``   gradients that are there and wrong
``text``       the user's text: statements, names, and where a value goes
``names``      how a program reaches an object
``words``      a finding as what the user reads
``tape``       minitape's own tape: its rows, its adapter, its list of checks; ``tape_words`` what its sentences name
"""
