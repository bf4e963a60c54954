"""Fix the user's program: edits of its text, and advice on the operations that people ask about most.

``answer_fixes``           finds the fix of a cause, and adds it to an answer; the record of a cause lists its edits
``fault_site``             the statement to blame, as an edit reads it; replaces text in its lines
``edits``                  edits of the line to blame
``numeric_fixes``          edits of a line that makes zeros, NaNs or steps, selected by the recorded values
``host_conversion_fixes``  rewrites a line that converts to NumPy or Python with functions of the framework
``block_fixes``            removes a block, or adds a watch to one
``operation_advice``       a sentence about the operation to blame
``dialects``               how each framework writes the functions that fixes need
"""
