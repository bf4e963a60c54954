"""``tf.experimental``: of its parts, the ones that shapes of ragged tensors need."""

from __future__ import annotations

from typing import Any

from .ragged.shape import DynamicRaggedShape, RowPartition

__all__ = ["DynamicRaggedShape", "RowPartition"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"minitape has no tf.experimental.{name}: experimental parts are left out, except {__all__}")
