"""Define dtypes, shapes, structures and exceptions. Nothing here depends on tensors."""
