"""Fixes of a program, for a tape and for PyTorch, TensorFlow and JAX: edits of its text, tried before they are
offered.

``table``       which edits fix which cause, and how a fix is offered
``dialects``    how each framework writes what they need
``edit_site``   the statement to blame, in its program, and how text is put into it
``edits``, ``values``   fixes of the line to blame: where nothing arrives; where zeros or NaN do
``plans``, ``blocks``   fixes elsewhere in the program; blocks, tapes and steps that move
``trial``       a patch, carried out on the recorded values
``operations``  the fix of a line, in words, by its operation
"""
