"""The table of primitives: each operation's formula and derivatives, and what makes functions of them."""
