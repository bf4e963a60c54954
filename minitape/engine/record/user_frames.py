"""Distinguish the user's frames from minitape's and library frames by file name.

Each row, origin and event stores the user's statement that caused it. To find this statement, minitape searches the
call stack outward for the first frame that belongs to the user's program (:func:`find_user_frame`).

The search may start at any frame of minitape, because it skips all of them. The number in
``find_user_place(_getframe(2))`` therefore only shortens the search: ``_getframe(0)`` is the frame of the running
function, ``_getframe(1)`` is the frame of its caller, and ``_getframe(2)`` is the frame of the caller's caller. A
number that is too small costs time, and a number that is too large would skip the user's statement. A function with a
parameter ``frame`` starts the search at this frame, or at its own caller if ``frame`` is None.
"""

import os
import sys
from functools import cache

import numpy as np

from ..types import OptionalFrame

# The file names of minitape's own code begin with these strings. Generated code has a label in place of a file name.
_PACKAGE = (
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep,
    "<formula ",
    "<minitape_kernels_",
    "<tf.",
)
# The code of Python and NumPy does not belong to the user's program either.
_LIBRARIES = tuple(os.path.dirname(os.path.abspath(p)) + os.sep for p in (os.path.dirname(np.__file__), os.__file__))
_FOREIGN = (*_PACKAGE, *_LIBRARIES, "<frozen ", "<__array_function__", "<eval_with_key>")
# In a checkout, the package of the live picture is not in one of the folders below.
_VIEW = os.path.join(os.path.dirname(_PACKAGE[0].rstrip(os.sep)), "widgets", f"{__name__.partition('.')[0]}_")
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")  # pip installs into these folders.


class _OwnFiles(dict[str, bool]):
    """A cache that maps file names to True for minitape and libraries, and to False for the user's files.

    An installed package is treated as a library, unless it imports minitape. A package that imports minitape is treated
    as part of the user's program.
    """

    def __missing__(self, name: str) -> bool:
        """Determine whether a file belongs to minitape or a library, and store the answer."""
        package = "" if name.startswith(_PACKAGE) else _find_installed_package(name)
        if package:
            is_own = not _uses_minitape(package, len(sys.modules))
        else:
            is_own = name.startswith((*_FOREIGN, _VIEW))
        self[name] = is_own
        return is_own


def _find_installed_package(file_name: str) -> str:
    """Return the name of the installed package that contains a file, or ""."""
    inner_paths = (file_name.rpartition(folder)[2] for folder in _INSTALLED if folder in file_name)
    return next(inner_paths, "").partition(os.sep)[0].removesuffix(".py")


@cache
def _uses_minitape(package: str, module_count: int) -> bool:
    """Return whether a module of an installed package has imported minitape.

    Args:
        package: The package's name.
        module_count: The number of imported modules. A new module may change the answer, so the count is part of the
            cache key.
    """
    own_package = __name__.partition(".")[0]
    if package.startswith(own_package):  # Skip minitape_widgets, which does not belong to the user's program.
        return False
    for name, module in list(sys.modules.items()):
        if name == "__main__":
            package_of_module = _find_installed_package(getattr(module, "__file__", None) or "")
        else:
            package_of_module = name.partition(".")[0]
        if package_of_module == package and any(
            value is sys.modules[own_package] for value in list(vars(module).values())
        ):
            return True
    return False


OWN_FILES = _OwnFiles()


def find_user_frame(frame: OptionalFrame) -> OptionalFrame:
    """Find the innermost frame of the user's code.

    Args:
        frame: The frame at which the search begins. The search continues outward, from a call to its caller.

    Returns:
        The frame, or None if no frame belongs to the user's code.
    """
    while frame is not None and OWN_FILES[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def is_minitape_or_library_file(filename: str) -> bool:
    """Return whether a file belongs to minitape or to a library rather than to the user's program.

    Args:
        filename: The file name in the code objects of the file (``co_filename``).
    """
    return OWN_FILES[filename]
