"""Define tensors and variables, along with the functions that run and record operations on them."""
