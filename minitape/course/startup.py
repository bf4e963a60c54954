"""Load the course, as the first program in each kernel that `minitape lab` starts.

As a result, an error names its fix even if a learner continues in the middle of a lesson the next day.

The folder of the notebook is not on the path while this program runs. A file next to a notebook may have the name of a
module, such as `minitape.py`, and must not run before one of the notebook's cells does.
"""


def _load_course() -> None:
    import contextlib
    import os
    import sys

    full_path = sys.path[:]
    sys.path[:] = [entry for entry in full_path if entry not in ("", os.getcwd())]
    try:
        # The kernel may belong to another environment without minitape.
        with contextlib.suppress(ImportError):
            import minitape.course  # noqa: F401
    finally:
        sys.path[:] = full_path


_load_course()
del _load_course
