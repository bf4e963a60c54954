"""Make a film of a tape from a storyboard: a page that plays, a video, a GIF, or numbered pictures.

The page plays the film in any browser. Videos and GIFs are recorded by the same page, in a browser that Playwright
starts.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from minitape.common.atomic_write import write_file
from minitape.common.script_json import format_script_json
from minitape.picture.picture_texts import build_browser_texts, translate
from minitape.picture.reader_base import collect_namespaces
from minitape.picture.snapshots import build_snapshot
from minitape.picture.source import get_picture_source

from .front_end import BUNDLE
from .script_page import build_script_page, format_bundle

if TYPE_CHECKING:
    from playwright.sync_api import Page

FILM_BUNDLE = BUNDLE.with_name("film.js")
MAX_FILM_ROWS = 2_000  # A film of a longer recording would show nothing that can be read.
VIDEO_KINDS = ("webm", "mp4", "gif")
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")

MOUNT_SCRIPT = """const { mountFilm } = await import(url);
const data = JSON.parse(document.getElementById("data").textContent);
globalThis.film = mountFilm(document.getElementById("screen"), data);"""
# The page answers with base64 text, because Playwright passes only JSON values.
RECORD_SCRIPT = """async (kind) => {
  const blob = await globalThis.film.record(kind);
  const reader = new FileReader();
  await new Promise((resolve) => { reader.onload = resolve; reader.readAsDataURL(blob); });
  return reader.result.slice(reader.result.indexOf(",") + 1);
}"""

Answer = TypeVar("Answer")


class Film:
    """A film of a tape: its rows, its backward sweep, and what a storyboard says about them.

    Each method adds one shot and returns the film, so that a storyboard reads from top to bottom. Rows are given by
    number, by name, or by the tensor or variable itself. ``film`` creates films.

    Attributes:
        shots: The storyboard so far, one dictionary for each shot.
    """

    def __init__(self, tape: Any, target: Any = None, sources: Any = None, *, namespaces: Any = None) -> None:
        """Read the recording, as ``film`` describes it.

        Args:
            tape: The recording.
            target: The target of the sweep, or None for the last gradient call.
            sources: The sources of the sweep.
            namespaces: The dictionaries in which to look up the tensors' names, or None for the caller's names.
        """
        namespaces = collect_namespaces(sys._getframe(1)) if namespaces is None else namespaces
        self._source = get_picture_source(tape, "film() takes")
        reader = self._source.build_reader(namespaces)
        reader.recompute_into_kept_arrays()
        rows = reader.read_new_rows(MAX_FILM_ROWS + 1)
        if len(rows) > MAX_FILM_ROWS:
            raise ValueError(
                translate("A film shows at most {most} rows, and this tape has more.", most=f"{MAX_FILM_ROWS:,}")
            )
        self._snapshot = build_snapshot(self._source, target, sources, reader, rows)
        self.shots: list[dict[str, Any]] = []

    def forward(self, to: Any = None, *, say: str | None = None) -> Film:
        """Show how the rows are computed, one after the other.

        Args:
            to: The last row to show, or None for all rows.
            say: The subtitle from here on.
        """
        return self._add_shot("forward", say, to=None if to is None else self._find_row(to))

    def back(self, to: Any = None, *, say: str | None = None) -> Film:
        """Show the backward sweep step by step.

        Args:
            to: The row whose step is the last to show, or None for the whole sweep and the optimizer's update.
            say: The subtitle from here on.

        Raises:
            ValueError: If the tape has not computed a gradient yet, and the film has no target.
        """
        if self._snapshot["sweep"] is None:
            raise ValueError(
                translate(
                    "The tape has no backward sweep to show. Call tape.gradient first, or pass the target and the "
                    "sources: film(tape, y, x)."
                )
            )
        return self._add_shot("back", say, to=None if to is None else self._find_row(to))

    def say(self, text: str) -> Film:
        """Show a subtitle until the next one replaces it. An empty text removes it."""
        return self._add_shot("say", None, text=str(text))

    def hold(self, seconds: float) -> Film:
        """Show the current step for some more seconds."""
        return self._add_shot("hold", None, seconds=float(seconds))

    def cut(self, source: Any = None, *, say: str | None = None) -> Film:
        """Cut the graph in two, and add up what crosses the cut: the sum is the gradient.

        Args:
            source: The source of the gradient. None means the only one, or the first.
            say: The subtitle from here on.
        """
        return self._add_shot("cut", say, row=None if source is None else self._find_row(source))

    def drag(self, source: Any, to: float, *, say: str | None = None) -> Film:
        """Change the number of a source slowly. All numbers that depend on it follow.

        Args:
            source: A scalar variable, watched tensor or number of the program.
            to: The number at the end. The film keeps it from here on.
            say: The subtitle from here on.
        """
        return self._add_shot("drag", say, row=self._find_row(source), to=float(to))

    def save(self, path: Any, *, size: tuple[int, int] = (1920, 1080), rate: int = 30, dark: bool = False) -> None:
        """Write the film to a file or a folder.

        Args:
            path: The ending determines the format. ``.html`` is a page that plays and records the film. ``.webm`` and
                ``.mp4`` are videos, ``.gif`` is an animated picture that is at most 960 pixels wide. A path without an
                ending is a folder for numbered SVG pictures, one for each step, in which the node of row 3 has the id
                ``row-3`` and the edge to input 1 of row 4 the id ``edge-4-1``.
            size: The width and height in pixels. (1080, 1920) is a film for a phone.
            rate: The number of frames per second of a video.
            dark: Whether the background is dark.

        Raises:
            ValueError: If the path has a different ending, or a shot of the storyboard cannot be shown.
            ImportError: If a video, a GIF or pictures need Playwright and it is not installed.
            RuntimeError: If no browser can be started.
        """
        path = Path(path)
        kind = path.suffix.lower().lstrip(".")
        page_text = self.build_page(size, rate, dark)
        if kind in ("html", "htm"):
            write_file(path, page_text)
        elif kind in VIDEO_KINDS:
            encoded = run_in_browser(page_text, lambda page: page.evaluate(RECORD_SCRIPT, kind))
            write_file(path, base64.b64decode(encoded))
        elif not kind:
            pictures = run_in_browser(page_text, lambda page: page.evaluate("globalThis.film.pictures()"))
            path.mkdir(parents=True, exist_ok=True)
            for number, picture in enumerate(pictures):
                write_file(path / f"{number:03}.svg", picture)
        else:
            raise ValueError(
                translate(
                    "A film cannot be saved as .{kind}. Use .html, .webm, .mp4, .gif, or a folder for SVG pictures.",
                    kind=kind,
                )
            )

    def build_page(self, size: tuple[int, int], rate: int, dark: bool | None = None) -> str:
        """Return the HTML text of the page that plays the film.

        Args:
            size: The width and height of the film in pixels.
            rate: The number of frames per second of a video that the page records.
            dark: Whether the background is dark. None means the colours of the page around it.
        """
        width, height = size
        # Video encoders need even numbers of pixels.
        data = {
            "snapshot": self._snapshot,
            "shots": self.shots,
            "width": int(width) // 2 * 2,
            "height": int(height) // 2 * 2,
            "rate": int(rate),
            **({} if dark is None else {"dark": dark}),
            **build_browser_texts(),
        }
        return build_script_page(
            title=translate("film"),
            name="screen",
            data=format_script_json(data),
            bundle=format_bundle(FILM_BUNDLE),
            script=MOUNT_SCRIPT,
        )

    def __repr__(self) -> str:
        """Return the number of rows and shots."""
        return f"Film({len(self._snapshot['rows'])} rows, {len(self.shots)} shots)"

    def _repr_html_(self) -> str:
        """Return a frame in which the film plays."""
        page = escape(self.build_page((1280, 720), 30))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" title="{escape(translate("film"))}" '
            'style="width: 100%; max-width: 960px; aspect-ratio: 16 / 10; border: 0"></iframe>'
        )

    def _add_shot(self, shot: str, say: str | None, **fields: Any) -> Film:
        if say is not None:
            self.shots.append({"shot": "say", "text": say})
        self.shots.append({"shot": shot, **fields})
        return self

    def _find_row(self, row: Any) -> int:
        """Return the number of a row that is given by its number, its name, or its tensor or variable."""
        rows = self._snapshot["rows"]
        if isinstance(row, int) and not isinstance(row, bool):
            if 0 <= row < len(rows):
                return row
            raise ValueError(
                translate("The tape has no row {row}. Its rows are 0 to {last}.", row=row, last=len(rows) - 1)
            )
        if isinstance(row, str):
            found = [fields["row"] for fields in rows if row in (fields["name"], fields["label"])]
        else:
            found = [
                number
                for number in range(len(rows))
                if self._source.find_object_of_leaf_or_candidate(number, [row]) is row
            ]
        if not found:
            raise ValueError(
                translate(
                    "The tape has no row for {row}. Its rows are: {names}.",
                    row=repr(row),
                    names=", ".join(f"{fields['row']} ({fields['name'] or fields['label']})" for fields in rows[:20]),
                )
            )
        return found[-1]


def film(tape: Any, target: Any = None, sources: Any = None) -> Film:
    """Return a film of a tape, to which a storyboard adds shots.

    Args:
        tape: A ``tf.GradientTape`` or the recording of another framework, of at most 2,000 rows.
        target: The target of the backward sweep. None means the tape's last gradient call.
        sources: The sources of the sweep, in any nested structure.

    Returns:
        A film without shots.

    Raises:
        TypeError: If ``tape`` is not a GradientTape.
        ValueError: If the recording is too long.

    >>> import minitape as tf
    >>> x = tf.Variable(1.0, name="x")
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.sin(x)
    >>> film(tape, y, x).forward().say("The product sends two parts back.").back(to=x).cut(x)
    Film(3 rows, 4 shots)
    """
    return Film(tape, target, sources, namespaces=collect_namespaces(sys._getframe(1)))


def run_in_browser(page_text: str, ask: Callable[[Page], Answer]) -> Answer:
    """Open a film's page in a browser without a window, and return what ``ask`` gets from it.

    Args:
        page_text: The HTML text of the page.
        ask: A function of Playwright's page.

    Raises:
        ImportError: If Playwright is not installed.
        RuntimeError: If no browser can be started.
        ValueError: If the page says that a shot cannot be shown.
    """
    try:
        import playwright.sync_api
    except ImportError:
        raise ImportError(
            translate(
                "Recording a film needs a browser that Python can start. Run pip install playwright, then playwright "
                'install chromium. Or save the film as a page with film.save("film.html") and record the film in the '
                "browser."
            )
        ) from None

    def open_page() -> Answer:
        with playwright.sync_api.sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "film.html"
            write_file(path, page_text)
            browser = driver.chromium.launch(
                executable_path=next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
            )
            try:
                page = browser.new_context(bypass_csp=True).new_page()
                page.set_default_timeout(0)  # A long film takes minutes.
                page.goto(path.as_uri())
                page.wait_for_function("globalThis.film !== undefined", timeout=60_000)
                fault = page.evaluate("globalThis.film.fault")
                if fault:
                    raise ValueError(fault)
                return ask(page)
            finally:
                browser.close()

    # Playwright refuses to run in a thread with an event loop, such as the main thread of a notebook.
    with ThreadPoolExecutor(1) as executor:
        try:
            return executor.submit(open_page).result()
        except playwright.sync_api.Error as error:
            raise RuntimeError(
                translate(
                    "The browser could not record the film ({error}). To install a suitable browser, run: playwright "
                    "install chromium",
                    error=str(error).splitlines()[0],
                )
            ) from None
