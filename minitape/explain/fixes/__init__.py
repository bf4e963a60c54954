"""Fixes of a program: a table of edits of its text, and a sentence for the operations that people ask about most.

``fix_table``              which edits fix which cause, and how a fix is offered
``fault_site``             the statement to blame, as an edit sees it, and how text is put into its lines
``edits``                  fixes of the line to blame
``numeric_fixes``          fixes of a line that makes zeros, NaNs or steps, chosen by the recorded values
``host_conversion_fixes``  a line that leaves for NumPy or Python, written with functions of the framework
``block_fixes``            a block that is removed, and a watch that is added to one
``operation_advice``       a sentence about the operation to blame
``dialects``               how each framework writes what these need
"""
