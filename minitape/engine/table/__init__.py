"""Declare and compile the formula and derivatives of each operation."""
