"""What the compiler of graphs (:mod:`minitape.graphs.compile`) finds faster ways with, under one name."""

from .blockwise import LEAST as LEAST_LARGE
from .blockwise import Blockwise, large_kind, slow_shapes
from .fuse import LEAST, TOTALS, Fused, compiled, fusable
from .kernels import available, kernel, loaded
from .rolled import rolled

__all__ = [
    "LEAST",
    "LEAST_LARGE",
    "TOTALS",
    "Blockwise",
    "Fused",
    "available",
    "compiled",
    "fusable",
    "kernel",
    "large_kind",
    "loaded",
    "rolled",
    "slow_shapes",
]
