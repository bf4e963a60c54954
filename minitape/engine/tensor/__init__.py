"""Tensors and variables, and how an operation on them is run and recorded."""
