"""The table of primitives, with the formula and derivatives of each operation, and the code that compiles them."""
