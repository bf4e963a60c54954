"""Errors for arguments that an operation cannot compute with, and the texts of shapes in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ..types import Array
    from .dtypes import DType


def invalid(message: str, op: str = "", name: str = "") -> Exception:
    """The InvalidArgumentError that operation ``op`` raises, worded as in TensorFlow."""
    return InvalidArgumentError(None, None, f"{message} [Op:{op}] name: {name}" if op else message)


def mismatch(op: str, position: int, wanted: str, got: DType) -> Exception:
    """The error for an operand whose dtype is not the wanted one."""
    return invalid(
        f"cannot compute {op} as input #{position}(zero-based) was expected to be a {wanted} tensor but is a "
        f"{got.kernel_name} tensor",
        op,
    )


def shape_text(shape: Iterable[int | None]) -> str:
    """A shape as TensorFlow's kernels print it.

    >>> shape_text((2, 3, None))
    '[2,3,?]'
    """
    return "[" + ",".join(["?" if n is None else str(n) for n in shape]) + "]"


def check_places(places: Array, size: int, op: str = "GatherV2") -> None:
    """Raises InvalidArgumentError unless all of ``places`` are in [0, size)."""
    bad = outside(np.asarray(places)[..., None], (size,))
    if bad is not None:
        raise invalid(f"indices{bad[0]} = {bad[1][1:-1]} is not in [0, {size})", op)


def check_inside(places: Array, sizes: tuple[int, ...], op: str = "") -> None:
    """Raises InvalidArgumentError for one of the places (..., depth) outside of a tensor of these sizes."""
    bad = outside(places, sizes[: places.shape[-1]])
    if bad is not None:
        raise invalid(f"indices{bad[0]} = {bad[1]} does not index into shape {shape_text(sizes)}", op)


def outside(places: Array, sizes: tuple[int | None, ...]) -> tuple[str, str] | None:
    """The first place in ``places`` (..., depth) outside of ``sizes``: where it is and what it is, as text."""
    places = np.asarray(places)
    if not places.shape[-1]:
        return None
    wrong = np.any((places < 0) | (places >= np.array(sizes)), axis=-1)
    hits = np.flatnonzero(wrong)
    if not hits.size:
        return None
    at = np.unravel_index(hits[0], wrong.shape)
    return shape_text(map(int, at)) if at else "", "[" + ", ".join(str(int(i)) for i in places[at]) + "]"
