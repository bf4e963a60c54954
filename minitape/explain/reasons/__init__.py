"""Explain why a gradient is None, zero, NaN or wrong, in the same way for every framework.

``question``           the rows of a recording, the edges between them, a question about them, and a finding
``adapter``            everything about a framework that the checks use, except its rows
``check_order``        the checks of every framework in one order, and what a framework adds to them
``checks``             the parts of checks that a tape, PyTorch, TensorFlow and JAX share, each for one cause
``zero_nan``           the operation that made a gradient zero or not finite
``suspects``           gradients that exist and are wrong
``program_text``       the text of the user's program: statements, names, and where a value flows
``object_names``       the expression by which a program reaches an object
``finding_sentences``  the sentences of a finding
``tape_adapter``       minitape's own tape: its rows and its adapter; ``tape_checks`` what only a tape checks, and
                       ``tape_sentences`` the fields of its sentences
"""
