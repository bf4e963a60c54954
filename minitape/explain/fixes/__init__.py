"""Fixes of a program: a table of edits of its text, and a sentence for the operations that people ask about most.

``table``       which edits fix which cause, and how a fix is offered
``site``        the statement to blame, as an edit sees it, and how text is put into its lines
``edits``       fixes of the line to blame
``numbers``     fixes of a line that makes zeros, NaNs or steps, chosen by the recorded values
``leaving``     a line that leaves for NumPy or Python, written with functions of the framework
``blocks``      lines that move into a block or out of it, and a watch that is added
``operations``  a sentence about the operation to blame
``dialects``    how each framework writes what these need
"""
