"""Errors of graphs, in TensorFlow's words: what fails when one runs, at which line of the user's, and what does not fit
before.
"""

from __future__ import annotations





_BEGIN = "Graph execution error:"
_OF_NUMPY = ("operands could not be broadcast", "all input arrays must have the same shape", "matmul: ")














