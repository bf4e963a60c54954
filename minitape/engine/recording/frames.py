"""The user's statements: which frames of Python are the user's own."""

from __future__ import annotations

import os
import sys
from functools import cache
from types import FrameType

import numpy as np

# minitape's own code
_PACKAGE = (os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep, "<formula ", "<tf.")
# ... and that of libraries: neither is ever the user's statement
_LIBRARIES = tuple(os.path.dirname(os.path.abspath(p)) + os.sep for p in (os.path.dirname(np.__file__), os.__file__))
_FOREIGN = (*_PACKAGE, *_LIBRARIES, "<frozen ", "<__array_function__", "<eval_with_key>")
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")  # the folders of what pip installs


class _Own(dict[str, bool]):
    """File name -> True for minitape's and libraries' files, False for the user's.

    What pip installed is a library unless it imports minitape: then it is a program of the user's that is installed.
    """

    def __missing__(self, name: str) -> bool:
        package = "" if name.startswith(_PACKAGE) else _package_of(name)
        own = not _uses_minitape(package, len(sys.modules)) if package else name.startswith(_FOREIGN)
        self[name] = own
        return own


def _package_of(name: str) -> str:
    """The installed package that a file belongs to; empty for another file."""
    inside = (name.rpartition(folder)[2] for folder in _INSTALLED if folder in name)
    return next(inside, "").partition(os.sep)[0].removesuffix(".py")


@cache
def _uses_minitape(package: str, known: int) -> bool:
    """Whether one of the modules of an installed package imports minitape; ``known`` modules are imported by now."""
    own = __name__.partition(".")[0]
    return not package.startswith(own) and any(  # minitape_widgets
        value is sys.modules[own]
        for key, m in list(sys.modules.items())
        if package == (key.partition(".")[0] if key != "__main__" else _package_of(getattr(m, "__file__", None) or ""))
        for value in list(vars(m).values())
    )


OWN_FILES = _Own()


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's code."""
    while frame is not None and OWN_FILES[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def own_file(name: str) -> bool:
    """True for the files of minitape and of libraries, False for the user's."""
    return OWN_FILES[name]
