"""Values: types, shapes, structures, exceptions. Nothing here knows tensors."""
