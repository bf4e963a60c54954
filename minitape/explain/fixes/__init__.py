"""Fix the user's program by editing its text, and give advice on the operations that people ask about most.

``answer_fixes``           finds the fix for a cause (whose record lists its edits) and adds it to an answer
``fault_site``             describes the statement to blame, and replaces text in its lines
``edits``                  edits of the line to blame
``numeric_fixes``          edits of a line that computes zeros, NaNs or steps, selected by the recorded values
``host_conversion_fixes``  rewrites a line that converts to NumPy or Python, using the framework's own functions
``block_fixes``            removes a block, or adds a ``watch`` call to a block
``operation_advice``       a sentence about the operation to blame
``dialects``               how the functions that fixes use are written in each framework
"""
