"""Find and run the programs on a page, check their output, and draw the live picture of a tape below a program.

A page shows a program in a ``python`` block and what it prints in the ``text`` block below. The programs of a page
share their variables. A comment ``<!-- picture: tape -->`` asks for the picture of the tape in that variable.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from minitape.cli.lesson_pages import VIEW_TEMPLATE

PROGRAM_FILE = "program.py"
PICTURE_COMMENT = re.compile(r"^<!-- picture: (\w+) -->$", re.MULTILINE)
SEARCH_COMMENT = re.compile(r"^<!-- search: (.+) -->$", re.MULTILINE)
KEYWORDS_TEMPLATE = "```{{eval-rst}}\n.. meta::\n   :keywords: {keywords}\n```"
FIRST_IMPORT = re.compile(r"import (torch|jax|tensorflow)\b")
PROGRAM_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n\n^```text\n(?P<output>.*?)^```"
    r"(?:\n\n<!-- picture: (?P<tape_name>\w+) -->)?",
    re.MULTILINE | re.DOTALL,
)


class PageProgram(NamedTuple):
    """A program of a page.

    Attributes:
        code: The source text.
        output: What the page says that the program prints.
        tape_name: The variable whose tape is drawn below, or "".
    """

    code: str
    output: str
    tape_name: str


def find_programs(page_text: str) -> list[PageProgram]:
    r"""Return the programs of a page with what they print.

    >>> find_programs("```python\nprint(1)\n```\n\n```text\n1\n```\n\n<!-- picture: tape -->\n")
    [PageProgram(code='print(1)\n', output='1\n', tape_name='tape')]
    """
    return [
        PageProgram(block["code"], block["output"], block["tape_name"] or "")
        for block in PROGRAM_BLOCK.finditer(page_text)
    ]


def find_framework(page_text: str) -> str:
    r"""Return the framework whose programs a page shows, or "" if its programs run in minitape.

    The site is built without the frameworks, so these programs do not run during the build.

    >>> find_framework("```python\nimport jax\n```\n\n```text\n```\n")
    'jax'
    """
    imported = (FIRST_IMPORT.match(program.code) for program in find_programs(page_text))
    return next((match[1] for match in imported if match), "")


def run_program(code: str, namespace: dict[str, Any]) -> str:
    """Run a program of a page and return what it prints.

    Args:
        code: The source text. Pictures and messages can quote its lines.
        namespace: The variables of the page's earlier programs, to which the program adds its own.
    """
    linecache.cache[PROGRAM_FILE] = (len(code), None, code.splitlines(keepends=True), PROGRAM_FILE)
    namespace.setdefault("__name__", "__main__")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, PROGRAM_FILE, "exec"), namespace)
    return printed.getvalue()


def write_picture(tape_name: str, namespace: dict[str, Any], target_path: Path) -> None:
    """Write the live picture of a program's tape as a page for a frame.

    Args:
        tape_name: The variable that holds the tape.
        namespace: The program's variables. The picture takes the names of values from them.
        target_path: The file to write.
    """
    from minitape_widgets import TapeView
    from minitape_widgets.lesson_views import write_view_for_frame

    # The view looks for names in the code that makes it.
    view = eval(f"TapeView({tape_name})", namespace | {"TapeView": TapeView})
    write_view_for_frame(view, target_path)


def embed_search_words(page_text: str, split_text: Callable[[str], list[str]]) -> str:
    r"""Replace the search comment of a page with keywords for the site's search, which readers do not see.

    >>> print(embed_search_words("<!-- search: freeze weights -->", str.split))
    ```{eval-rst}
    .. meta::
       :keywords: freeze, weights
    ```

    Args:
        page_text: The page, as Markdown.
        split_text: The function that splits text into the words of the search index.

    Returns:
        The page with the keywords.
    """
    return SEARCH_COMMENT.sub(
        lambda comment: KEYWORDS_TEMPLATE.format(keywords=", ".join(dict.fromkeys(split_text(comment[1])))), page_text
    )


def embed_pictures(page_text: str, views_folder: Path, views_url: str) -> str:
    """Replace each picture comment of a page with the live picture that it asks for.

    Args:
        page_text: The page, as Markdown.
        views_folder: The folder for the pages of the pictures.
        views_url: The address of that folder, seen from the page.

    Returns:
        The page with a frame for each picture.
    """
    namespace: dict[str, Any] = {}
    frames = []
    programs = [] if find_framework(page_text) else find_programs(page_text)
    for number, program in enumerate(programs):
        run_program(program.code, namespace)
        if program.tape_name:
            write_picture(program.tape_name, namespace, views_folder / f"{number}.html")
            frames.append(VIEW_TEMPLATE.format(view=f"{views_url}/{number}.html", title="minitape"))
    remaining_frames = iter(frames)
    return PICTURE_COMMENT.sub(lambda comment: next(remaining_frames), page_text)
