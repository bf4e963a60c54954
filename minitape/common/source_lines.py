"""Show Python the lines of a program that is in no file."""

import linecache


def register_source_lines(file_name: str, text: str) -> None:
    r"""Let tracebacks, debuggers and pictures find the lines of a program under a file name.

    Args:
        file_name: The file name with which the program is compiled. No such file has to exist.
        text: The program.

    >>> register_source_lines("<example>", "x = 1\ny = 2\n")
    >>> linecache.getline("<example>", 2)
    'y = 2\n'
    """
    linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
