"""`minitape site --lite`: the lessons in JupyterLite, which runs them in the reader's browser, without a server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

import click

from ..common.read_data import NOTEBOOK, read_json, read_text
from ..common.texts import language
from ..common.write_beside import write
from .browser_python import CORE, FOLDER, core_files, write_python
from .lesson_pages import say_in
from .lessons import copy_missing, lessons_folder, notebooks_in
from .parts import require_packages
from .playground import page_name, write_playground
from .server import LAB_EXTENSIONS
from .site_folder import new_site

OWN = "jupyter-lite.json"  # what JupyterLite writes into each site of its own
NEEDS = ("jupyterlite_core", "jupyterlite_pyodide_kernel", "ipywidgets", "anywidget")
KERNEL = "@jupyterlite/pyodide-kernel-extension"
NOT_NEEDED = "widgetsnbextension"  # among the kernel's wheels: it belongs to a server
SETTINGS = Path(__file__).with_name("jupyterlab_settings")
PAGE = Path(__file__).with_name("site_settings") / "lite.html"
BAR = Path(__file__).with_name("site_settings") / "loading.js"
STARTER = Path(__file__).with_name("site_settings") / "kernel_python.js"


def write_lite(out: Path, codes: Sequence[str] = (), offline: bool = False, pyodide: Path | None = None) -> int:
    """Write JupyterLite with the course's lessons in these languages, and the playground, to `out`; give back how many
    notebooks it has.

    Raises ModuleNotFoundError where JupyterLite is missing, click.ClickException where `out` holds something else,
    JupyterLite cannot be built, or Pyodide cannot be had.
    """
    require_packages(*NEEDS)
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL, PYODIDE_VERSION

    folders = [lessons_folder(code) for code in dict.fromkeys(codes) or [None]]
    own = offline or pyodide is not None  # Python lies in the site itself
    with new_site(out) as new, tempfile.TemporaryDirectory(prefix="minitape-lite-") as made:
        # What needs the network comes first, and the wheels that belong to a server are left out.
        wheels = [wheel for wheel in _kernel().rglob("*.whl") if not wheel.name.startswith(NOT_NEEDED)]
        packages = write_python(Path(made, "python"), pyodide, PYODIDE_VERSION, offline, sorted(wheels))
        loader = f"{f'../{FOLDER}' if own else PYODIDE_CDN_URL}/{CORE[0]}"
        _build(new, Path(made), folders)
        shutil.move(Path(made, "python"), new / FOLDER)
        _give_python(new, packages, loader, own)
        page = new / "lab" / "index.html"  # says what it loads, until the first cell can run
        bar = read_text(BAR).replace("{{files}}", json.dumps(core_files(loader)))
        write(page, read_text(page).replace("</head>", f"<script>{bar}</script>\n</head>", 1))
        write(new / "index.html", _front(folders))
        write_playground(new / "playground", f"../{FOLDER}", loader, map(language, folders))
    return sum(len(notebooks_in(folder)) for folder in folders)


def _kernel() -> Path:
    """The folder of JupyterLite's kernel, as it is installed."""
    from jupyter_core.paths import jupyter_path

    return next(path for place in jupyter_path("labextensions") if (path := Path(place, KERNEL)).is_dir())


def _build(out: Path, scratch: Path, folders: Sequence[Path]) -> None:
    """JupyterLite with these lessons, as it makes it itself."""
    for folder in folders:
        copy_missing(scratch / "contents" / language(folder), language=language(folder))
    settings = [read_json(path) for path in sorted(SETTINGS.rglob("*.json"))]
    write(scratch / "overrides.json", json.dumps({key: one for part in settings for key, one in part.items()}))
    command = [
        *(sys.executable, "-c", "from jupyterlite_core.app import main; main()", "build"),
        *("--lite-dir", str(scratch), "--contents", str(scratch / "contents"), "--output-dir", str(out.absolute())),
        *("--settings-overrides", str(scratch / "overrides.json"), "--apps", "lab", "--no-sourcemaps"),
        f"--FederatedExtensionAddon.extra_labextensions_path={LAB_EXTENSIONS}",
    ]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)  # where it keeps notes of its own
    if done.returncode:
        raise click.ClickException(f"JupyterLite cannot be built:\n{done.stdout}{done.stderr}")


def _give_python(out: Path, packages: list[str], loader: str, own: bool) -> None:
    """Let the kernel start with minitape: Pyodide loads all that the lock file names, and asks no index."""
    (worker,) = (out / "extensions" / KERNEL).rglob("comlink.worker.*.js")
    given = json.dumps({"loader": loader, "packages": packages, "kernel": f"../{worker.relative_to(out).as_posix()}"})
    write(out / FOLDER / STARTER.name, read_text(STARTER).replace("{{config}}", given))
    config = read_json(out / OWN)
    config["jupyter-config-data"]["litePluginSettings"][f"{KERNEL}:kernel"] |= {
        "pyodideUrl": f"./{FOLDER}/{STARTER.name}",
        "disablePyPIFallback": own,
        "loadPyodideOptions": {"packages": [*packages, "jedi"]},  # as if it was there: it is not fetched
    }
    write(out / OWN, json.dumps(config, indent=2) + "\n")


def _front(folders: Sequence[Path]) -> str:
    """The site's first page: the lessons in each language, side by side."""
    columns = []
    for folder in folders:
        say, code = say_in(folder), language(folder)
        rows = []
        for path in notebooks_in(folder):
            cells = read_json(path, NOTEBOOK)["cells"]
            title = "".join(cells[0]["source"]).partition("\n")[0].lstrip("# ")
            rows.append(f'<li><a href="lab/index.html?path={code}/{path.name}">{escape(title)}</a></li>')
        kept = say(
            "How a program computes gradients, lesson by lesson, with a picture of each that you step through. They "
            "run in your browser: nothing is installed, and what you write is kept in the storage of this "
            "browser. To keep a copy of your work, right-click a notebook in the list at the left and choose Download; "
            "to bring it back, use the list's button Upload."
        )
        phone = say(
            "On a phone you can read the lessons and use the playground; to run cells, a tablet or a computer is "
            "better."
        )
        play = say("Playground: step through the gradient of your own program")
        columns.append(
            f'<section lang="{code}"><a class="play" href="playground/{page_name(code)}">{escape(play)}</a>\n'
            f"<h2>{escape(say('The lessons'))}</h2>\n<p>{escape(kept)}</p>\n"
            f'<p class="phone">{escape(phone)}</p>\n<ul>\n' + "\n".join(rows) + "\n</ul></section>"
        )
    return read_text(PAGE).replace("{{lessons}}", "\n".join(columns))
