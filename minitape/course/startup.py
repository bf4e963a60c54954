"""What `minitape lab` has each kernel run first: errors say what fixes them also for who goes on in the middle of a
lesson the next day.

The folder of the notebook is taken off the path meanwhile. A file beside a notebook may have the name of a module, such
as `minitape.py`, and must not run before one of the notebook's cells does.
"""


def _load_course() -> None:
    import contextlib
    import os
    import sys

    full_path = sys.path[:]
    sys.path[:] = [entry for entry in full_path if entry not in ("", os.getcwd())]
    try:
        # The kernel may be that of another environment, which has no minitape.
        with contextlib.suppress(ImportError):
            import minitape.course  # noqa: F401
    finally:
        sys.path[:] = full_path


_load_course()
del _load_course
