"""Show where readers can run a lesson: on its page, in JupyterLite, in JupyterHub or in Colab."""

import json
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from ..common.translation import detect_language
from .lesson_files import LEARNER_FOLDER

KERNEL_SCRIPT = "pyodide/kernel_python.js"
"""The script of a site by `minitape site --lite` that starts Python with all packages."""
COLAB_URL = "https://colab.research.google.com/github"
GITHUB_HOST = "github.com"


class RunPlaces(NamedTuple):
    """The places where a reader can run the lessons. Pages show a link to each place that has an address.

    Attributes:
        lab_command: The command that opens the lessons in JupyterLab.
        python_url: The address of a site built by `minitape site --lite`, relative to the lessons' pages. Its Python
            runs the cells of a page.
        is_in_lite: Whether that site also contains the lessons.
        hub_url: The address of a JupyterHub whose learners have the lessons.
        hub_folder: The folder of the lessons there.
        repository_url: The address of the repository that contains the lessons. Colab opens notebooks from GitHub.
    """

    lab_command: str = "minitape lab"
    python_url: str = ""
    is_in_lite: bool = False
    hub_url: str = ""
    hub_folder: str = LEARNER_FOLDER
    repository_url: str = ""


def iter_run_links(lesson: Path, places: RunPlaces, say: Callable[..., str]) -> Iterator[str]:
    """Yield a paragraph for each place where the lesson can be run.

    Args:
        lesson: The notebook.
        places: The addresses.
        say: A function that translates a message into the lesson's language.

    Yields:
        Markdown and HTML.
    """
    language_code = detect_language(lesson.parent)
    if places.python_url:
        yield say(
            "You can change the code in the cells on this page. The button below a cell runs the cells above it and "
            "then the cell itself."
        )
    links = []
    if places.python_url and places.is_in_lite:
        address = f"{places.python_url}/lab/index.html?path={language_code}/{lesson.name}"
        links.append((address, say("Run this lesson in your browser without installing anything")))
    if places.hub_url:
        folder = quote(f"{places.hub_folder}/{lesson.name}")
        links.append((f"{places.hub_url.rstrip('/')}/hub/user-redirect/lab/tree/{folder}", say("Open in JupyterHub")))
    repository = urlsplit(places.repository_url)
    if repository.netloc == GITHUB_HOST:
        path = f"{repository.path.rstrip('/').removesuffix('.git')}/blob/main/notebooks/{language_code}/{lesson.name}"
        links.append((f"{COLAB_URL}{path}", say("Open in Colab")))
    if links:
        yield " · ".join(f'<a class="run" href="{escape(address)}">{escape(text)}</a>' for address, text in links)
    if repository.netloc == GITHUB_HOST:
        command = f'%pip install -q "minitape[lab] @ git+{places.repository_url}"'
        yield say("In Colab, first run this command in a new cell: `{command}`", command=command)


def format_run_settings(lesson: Path, python_url: str, say: Callable[..., str]) -> str:
    """Format the element that gives the page's script its texts and the address of Python.

    Args:
        lesson: The notebook.
        python_url: The address of the site with Python, relative to the page.
        say: A function that translates a message into the lesson's language.

    Returns:
        An HTML element on one line.
    """
    settings = {
        "python": f"{python_url}/{KERNEL_SCRIPT}",
        "language": detect_language(lesson.parent),
        "run": say("Run"),
        "stop": say("Stop"),
        "code": say("This cell's code"),
        "loading": say("Python is loading. The first time, this takes a while ..."),
        "running": say("Cell {number} of {count} is running ..."),
        "choose": say("Choose an answer to the question above first."),
        "failed": say("Python could not be loaded, so the cells on this page do not run: {error}"),
        "picture": say("A picture that you can step through or that moves"),
    }
    return f'<div id="run-cells" hidden data-settings="{escape(json.dumps(settings, ensure_ascii=False))}"></div>'
