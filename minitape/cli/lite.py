"""Implement `minitape site --lite`, which builds a JupyterLite site for running the lessons in a browser."""

import json
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from click import ClickException

from ..common.atomic_write import write_file
from ..common.read_data import read_json, read_text
from ..common.translation import detect_language
from ..engine.types import JsonObject, OptionalPath, PathSequence, TextList, TextSequence
from .browser_python import CORE_FILES, PYTHON_FOLDER, list_core_file_urls, write_browser_python
from .lesson_files import copy_missing_lessons, list_notebook_files, read_heading
from .lesson_pages import build_page_translator
from .optional_packages import require_packages
from .playground_page import get_playground_file_name, write_playground_pages
from .server import LAB_EXTENSIONS, LAB_SETTINGS_FOLDER
from .site import SETTINGS_FOLDER, find_site_folders
from .site_folder import replace_site_folder

CONFIG_FILE = "jupyter-lite.json"
"""The configuration that JupyterLite writes into each site."""
REQUIRED_PACKAGES = ("jupyterlite_core", "jupyterlite_pyodide_kernel", "ipywidgets", "anywidget")
KERNEL_EXTENSION = "@jupyterlite/pyodide-kernel-extension"
EXCLUDED_WHEEL = "widgetsnbextension"
"""A wheel of the kernel that is needed only on a Jupyter server."""
PAGE_FILE = SETTINGS_FOLDER / "lite.html"
LOADING_BAR_FILE = SETTINGS_FOLDER / "loading.js"
KERNEL_STARTER_FILE = SETTINGS_FOLDER / "kernel_python.js"


def write_lite_site(
    target_folder: Path, language_codes: TextSequence, offline: bool, pyodide_folder: OptionalPath
) -> int:
    """Write a site that bundles JupyterLite, the course's lessons and the playground.

    Args:
        target_folder: The folder for the site. An existing site is replaced.
        language_codes: The languages of the lessons. An empty list means English.
        offline: Whether to copy Pyodide into the site, so that the reader's browser loads nothing from other servers.
        pyodide_folder: A folder with a Pyodide distribution, or None to use Pyodide's CDN.

    Returns:
        The number of notebooks on the site.

    Raises:
        ModuleNotFoundError: If JupyterLite is not installed.
        click.ClickException: If `target_folder` contains other files, JupyterLite cannot be built, or Pyodide is
            unavailable.
    """
    require_packages(*REQUIRED_PACKAGES)
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL, PYODIDE_VERSION

    folders = find_site_folders(None, language_codes)
    serves_python = offline or pyodide_folder is not None
    with (
        replace_site_folder(target_folder) as new_folder,
        TemporaryDirectory(prefix="minitape-lite-") as scratch,
    ):
        # Download these files first, because downloads may fail.
        wheels = [
            wheel
            for wheel in _find_kernel_extension_folder().rglob("*.whl")
            if not wheel.name.startswith(EXCLUDED_WHEEL)
        ]
        packages = write_browser_python(
            Path(scratch, "python"), pyodide_folder, PYODIDE_VERSION, serves_python, sorted(wheels)
        )
        python_url = f"../{PYTHON_FOLDER}" if serves_python else PYODIDE_CDN_URL
        loader_url = f"{python_url}/{CORE_FILES[0]}"
        _build_jupyterlite(new_folder, Path(scratch), folders)
        shutil.move(Path(scratch, "python"), new_folder / PYTHON_FOLDER)
        _set_up_kernel_python(new_folder, packages, loader_url, serves_python)
        lab_page = new_folder / "lab" / "index.html"  # This page shows a loading bar until the first cell can run.
        bar_script = read_text(LOADING_BAR_FILE).replace("{{files}}", json.dumps(list_core_file_urls(loader_url)))
        write_file(lab_page, read_text(lab_page).replace("</head>", f"<script>{bar_script}</script>\n</head>", 1))
        write_file(new_folder / "index.html", _build_front_page_html(folders))
        write_playground_pages(
            new_folder / "playground", f"../{PYTHON_FOLDER}", loader_url, map(detect_language, folders)
        )
    return sum(len(list_notebook_files(folder)) for folder in folders)


def _find_kernel_extension_folder() -> Path:
    """Find the folder of the installed JupyterLite kernel."""
    from jupyter_core.paths import jupyter_path

    return next(
        path
        for extensions_folder in jupyter_path("labextensions")
        if (path := Path(extensions_folder, KERNEL_EXTENSION)).is_dir()
    )


def _build_jupyterlite(target_folder: Path, scratch_folder: Path, lessons_folders: PathSequence) -> None:
    """Build JupyterLite and the lessons in `target_folder`."""
    contents_folder = scratch_folder / "contents"
    overrides_file = scratch_folder / "overrides.json"
    for lessons_folder in lessons_folders:
        code = detect_language(lessons_folder)
        copy_missing_lessons(contents_folder / code, language=code)
    overrides: JsonObject = {}
    for path in sorted(LAB_SETTINGS_FOLDER.glob("[!z]*/*.json")):  # A site may have lessons in both languages.
        overrides.update(read_json(path))
    write_file(overrides_file, json.dumps(overrides))
    command = [
        *(sys.executable, "-c", "from jupyterlite_core.app import main; main()", "build"),
        *("--lite-dir", str(scratch_folder), "--contents", str(contents_folder)),
        *("--output-dir", str(target_folder.absolute())),
        *("--settings-overrides", str(overrides_file), "--apps", "lab", "--no-sourcemaps"),
        f"--FederatedExtensionAddon.extra_labextensions_path={LAB_EXTENSIONS}",
    ]
    # JupyterLite writes its cache to the working folder.
    process = subprocess.run(command, cwd=scratch_folder, capture_output=True, text=True)
    if process.returncode:
        raise ClickException(f"JupyterLite cannot be built:\n{process.stdout}{process.stderr}")


def _set_up_kernel_python(site_folder: Path, packages: TextList, loader_url: str, serves_python: bool) -> None:
    """Configure the kernel to start with minitape.

    Pyodide loads all packages from the lock file without querying a package index.
    """
    (worker,) = (site_folder / "extensions" / KERNEL_EXTENSION).rglob("comlink.worker.*.js")
    starter_config = json.dumps(
        {"loader": loader_url, "packages": packages, "kernel": f"../{worker.relative_to(site_folder).as_posix()}"}
    )
    write_file(
        site_folder / PYTHON_FOLDER / KERNEL_STARTER_FILE.name,
        read_text(KERNEL_STARTER_FILE).replace("{{config}}", starter_config),
    )
    config = read_json(site_folder / CONFIG_FILE)
    config["jupyter-config-data"]["litePluginSettings"][f"{KERNEL_EXTENSION}:kernel"] |= {
        "pyodideUrl": f"./{PYTHON_FOLDER}/{KERNEL_STARTER_FILE.name}",
        "disablePyPIFallback": serves_python,
        "loadPyodideOptions": {
            "packages": [*packages, "jedi"]
        },  # Packages in this list are assumed to be loaded, so jedi is not fetched.
    }
    write_file(site_folder / CONFIG_FILE, json.dumps(config, indent=2) + "\n")


def _build_front_page_html(lessons_folders: PathSequence) -> str:
    """Build the site's start page, which lists the lessons of all languages side by side."""
    columns = []
    for lessons_folder in lessons_folders:
        say = build_page_translator(lessons_folder)
        code = detect_language(lessons_folder)
        rows = [
            f'<li><a href="lab/index.html?path={code}/{path.name}">{escape(read_heading(path).lstrip("# "))}</a></li>'
            for path in list_notebook_files(lessons_folder)
        ]
        introduction = say(
            "These lessons show how a program computes gradients, with pictures that you can step through. The "
            "lessons run in your browser, and nothing is installed. Your work is saved in this browser's storage. To "
            "keep a copy of your work, right-click a notebook in the list on the left and choose Download. To restore "
            "the copy, use the list's Upload button."
        )
        phone_note = say(
            "On a phone, you can read the lessons and use the playground. To run cells, a tablet or a computer is "
            "better."
        )
        playground_text = say("Playground: step through the gradient of your own program")
        playground_page = f"playground/{get_playground_file_name(code)}"
        columns.append(
            f'<section lang="{code}"><a class="play" href="{playground_page}">{escape(playground_text)}</a>\n'
            f"<h2>{escape(say('The lessons'))}</h2>\n<p>{escape(introduction)}</p>\n"
            f'<p class="phone">{escape(phone_note)}</p>\n<ul>\n' + "\n".join(rows) + "\n</ul></section>"
        )
    return read_text(PAGE_FILE).replace("{{lessons}}", "\n".join(columns))
