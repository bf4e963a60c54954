"""What the core asks of graphs: the operation on symbolic tensors, and slices of them."""

from ..graphs.build import apply
from ..graphs.slicing import getitem

__all__ = ["apply", "getitem"]
