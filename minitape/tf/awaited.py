"""What a checkpoint that was restored still has for an object: the values of attributes that are not there yet."""

from __future__ import annotations

from typing import Any

AWAITED = "_awaited_from_checkpoint"  # the attribute of an object that says of which checkpoint, and which place in it


def resume(holder: Any) -> None:
    """Restores what was awaited of an object and is there by now."""
    restoring, number = vars(holder).get(AWAITED, (None, None))
    if restoring is not None:
        restoring.match(holder, number)
