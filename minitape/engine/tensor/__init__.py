"""Tensors and variables, and the functions that run and record operations on them."""
