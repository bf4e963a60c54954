"""Run a lesson and write each live view that it shows to a file.

``minitape site`` runs this module as a program with two arguments, the path of the lesson and a folder. The program
writes each ``TapeView`` and ``Moving`` of the lesson to a page in the folder. It prints a JSON object that maps the id
of each cell to the texts and file names of the views that the cell shows.

If ``<mini-tape>`` can run the lines that recorded a tape, and computes the same numbers, the page has a button that
replaces the picture by these lines and a picture that follows them.
"""

import contextlib
import json
import os
import sys
from html import escape
from pathlib import Path
from typing import TypeAlias

from IPython.core.interactiveshell import InteractiveShell

from minitape.common.read_data import MAX_NOTEBOOK_SIZE, read_json
from minitape.common.script_json import format_script_json
from minitape.course import Moving
from minitape.picture.picture_texts import build_browser_texts, translate
from minitape_widgets import TapeView
from minitape_widgets.front_end import ELEMENT_SCRIPT
from minitape_widgets.recorded_program import extract_program

View: TypeAlias = TapeView | Moving
VIEW_KEY = "minitape_view"
"""A key in the metadata of an output that stands for a captured view."""
# The page reports its height to the lesson around it, and follows the lesson's light or dark theme. It must not fill
# its frame, because the frame takes its height from the page.
IN_LESSON = """<style>
body { margin: 0 }
html[data-theme="light"], html[data-theme="light"] body { color-scheme: light; background: #fff }
html[data-theme="dark"], html[data-theme="dark"] body { color-scheme: dark; background: #131416 }
</style>
<script>
document.getElementById("view")?.removeAttribute("data-fill");
addEventListener("message", ({ data, source }) => {
  if (source === parent && /^(light|dark)$/.test(data?.theme)) document.documentElement.dataset.theme = data.theme;
});
new ResizeObserver(() => parent.postMessage({ tapeview: document.body.offsetHeight }, "*")).observe(document.body);
</script>
"""

# Only the browser knows what <mini-tape> can run, so the button stays hidden until the program has run there. The
# program must compute what the lesson computed: a name may have had another value there.
EDITOR = """<style>
#edit {{ margin: 0.4rem 0 0; font: inherit }}
#edit[hidden] {{ display: none }}
</style>
<button id="edit" type="button" hidden>{label}</button>
<script type="application/json" data-minitape-texts>{texts}</script>
<script type="application/json" id="recorded">{recorded}</script>
<script>{element}</script>
<script>
const button = document.getElementById("edit");
const {{ program, operations }} = JSON.parse(document.getElementById("recorded").textContent);
const describe = ({{ op, value }}) => [op, value?.text ?? null];
const computed = ({{ rows }}) => rows.filter((row) => row.inputs.length).map(describe);
try {{
  const snapshot = customElements.get("mini-tape").snapshotOf(program);
  button.hidden = JSON.stringify(computed(snapshot)) !== JSON.stringify(operations);
}} catch {{
  // <mini-tape> cannot run the program, so the page keeps the recorded picture.
}}
button.addEventListener("click", () => {{
  const picture = document.createElement("mini-tape");
  picture.textContent = program;
  document.getElementById("view").replaceWith(picture);
  button.remove();
  picture.shadowRoot.querySelector("textarea").focus();
}});
</script>
"""


def capture_shown_views(shell: InteractiveShell) -> list[View]:
    """Collect the views that a shell's cells show, because the shell's output contains only the text of each view.

    Args:
        shell: The shell that runs the cells.

    Returns:
        A list to which each view is appended when a cell shows it.
    """
    shown_views: list[View] = []

    def capture_view(
        view: View, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, bool]]:
        shown_views.append(view)
        return {"text/plain": repr(view)}, {VIEW_KEY: True}

    assert shell.display_formatter is not None
    for view_class in (TapeView, Moving):
        shell.display_formatter.mimebundle_formatter.for_type(view_class, capture_view)
    return shown_views


def build_editor(view: TapeView, program: str) -> str:
    """Return the HTML of a button that lets readers change the program that recorded a tape.

    Args:
        view: The view of the tape.
        program: The program.

    Returns:
        The button, which stays hidden if the browser cannot run the program or gets other numbers.
    """
    rows = view.read_snapshot()["rows"]
    operations = [[row["op"], row["value"] and row["value"]["text"]] for row in rows if row["inputs"]]
    return EDITOR.format(
        label=escape(translate("Change the program")),
        texts=format_script_json(build_browser_texts().get("texts", {})),
        recorded=format_script_json({"program": program, "operations": operations}),
        element=ELEMENT_SCRIPT.read_text(encoding="utf-8"),
    )


def write_view_for_frame(view: View, target_path: Path, program: str | None = None) -> None:
    """Write a view as a page that a lesson shows in a frame.

    Args:
        view: The view.
        target_path: The file, whose folders are created if they are missing.
        program: The program that recorded the view's tape, if readers may change it.
    """
    target_path.parent.mkdir(parents=True, exist_ok=True)
    view.save(target_path)
    editor = build_editor(view, program) if program and isinstance(view, TapeView) else ""
    with open(target_path, "a", encoding="utf-8") as file:
        file.write(editor + IN_LESSON)


def run_lesson_and_save_views(lesson_path: Path, target_folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Run a lesson and write each view that it shows.

    A view grows while its cell runs, so it is written after the cell has ended.

    Args:
        lesson_path: The notebook.
        target_folder: The folder for the pages.

    Returns:
        (text of the view, file name) pairs, by the id of the cell that shows the views.

    Raises:
        SystemExit: If a cell raises an exception that it is not expected to raise.
    """
    shell = InteractiveShell.instance()
    shown_views = capture_shown_views(shell)
    files_by_cell: dict[str, list[tuple[str, str]]] = {}
    sources: list[str] = []
    for cell in read_json(lesson_path, MAX_NOTEBOOK_SIZE)["cells"]:
        if cell["cell_type"] != "code":
            continue
        sources.append("".join(cell["source"]))
        result = shell.run_cell(sources[-1], store_history=True)
        if not result.success and "raises-exception" not in cell["metadata"].get("tags", ()):
            raise SystemExit(f"cell {cell['id']} failed: {result.error_before_exec or result.error_in_exec!r}")
        program = extract_program(sources) if len(shown_views) == 1 else None
        for number, view in enumerate(shown_views):
            path = target_folder / f"{cell['id']}-{number}.html"
            write_view_for_frame(view, path, program)
            files_by_cell.setdefault(cell["id"], []).append((repr(view), path.name))
        shown_views.clear()
    return files_by_cell


if __name__ == "__main__":
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        answer = run_lesson_and_save_views(Path(sys.argv[1]), Path(sys.argv[2]))
    print(json.dumps(answer))
