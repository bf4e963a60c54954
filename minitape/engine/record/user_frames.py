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


class _OwnFiles(dict[str, bool]):
    """File name -> True for minitape's and libraries' files, False for the user's.

    What pip installed is a library unless it imports minitape: then it is a program of the user's that is installed.
    """

    def __missing__(self, name: str) -> bool:
        package = "" if name.startswith(_PACKAGE) else _find_installed_package(name)
        is_own = not _uses_minitape(package, len(sys.modules)) if package else name.startswith(_FOREIGN)
        self[name] = is_own
        return is_own


def _find_installed_package(file_name: str) -> str:
    """Find the installed package that a file belongs to; empty for another file."""
    inner_paths = (file_name.rpartition(folder)[2] for folder in _INSTALLED if folder in file_name)
    return next(inner_paths, "").partition(os.sep)[0].removesuffix(".py")


@cache
def _uses_minitape(package: str, module_count: int) -> bool:
    """Return whether one of the modules of an installed package imports minitape; ``module_count`` modules are imported
    by now.
    """
    own_package = __name__.partition(".")[0]
    return not package.startswith(own_package) and any(  # minitape_widgets
        value is sys.modules[own_package]
        for key, module in list(sys.modules.items())
        if package
        == (
            key.partition(".")[0]
            if key != "__main__"
            else _find_installed_package(getattr(module, "__file__", None) or "")
        )
        for value in list(vars(module).values())
    )


OWN_FILES = _OwnFiles()


def find_user_frame(frame: FrameType | None) -> FrameType | None:
    """Find the innermost frame of the user's code, from this one outwards."""
    while frame is not None and OWN_FILES[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def is_minitape_or_library_file(filename: str) -> bool:
    """Return True for the files of minitape and of libraries, False for the user's."""
    return OWN_FILES[filename]
