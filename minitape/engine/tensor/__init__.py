"""Define tensors and variables, and run and record operations on them."""
