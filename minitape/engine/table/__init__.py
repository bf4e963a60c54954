"""Declare the formula and derivatives of each operation, and compile them."""
