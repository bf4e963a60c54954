"""Whose code asks: the frame whose names the answer uses."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..engine.frames import user_frame

_NAMED: list[FrameType] = []  # frames that have ended, whose error is being looked at


def asking_frame() -> FrameType | None:
    """The innermost frame of the user's code, or the one that :func:`asked_by` names."""
    return _NAMED[-1] if _NAMED else user_frame(sys._getframe(1))


@contextmanager
def asked_by(frame: FrameType) -> Iterator[None]:
    """While an error is explained that has left this frame already: its names are those that the user knows."""
    _NAMED.append(frame)
    try:
        yield
    finally:
        _NAMED.pop()


def warn_user(text: str) -> None:
    """A RuntimeWarning at the line of the user's code that runs now."""
    frame = user_frame(sys._getframe(1))
    if frame is None:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    else:
        warnings.warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)
