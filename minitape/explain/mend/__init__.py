"""What mends a program, for a tape and for PyTorch, TensorFlow and JAX: edits of its text, carried out before they are
offered.

``table``       which edits mend which cause, and how a mend is offered
``dialects``    how each framework writes what they need
``spot``        the statement to blame, in its program, and how text is put into it
``edits``, ``values``   what mends the line to blame: where nothing arrives; where zeros or NaN do
``plans``, ``blocks``   what mends it elsewhere in the program; blocks, tapes and steps that move
``trial``       a patch, carried out on the recorded values
``operations``  what mends a line, in words, by the operation that stands there
"""
