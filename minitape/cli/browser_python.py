"""Assemble the Python that runs in a reader's browser: Pyodide, the lessons' packages and minitape.

A lock file lists all packages, so the kernel loads them at startup without querying a package index.
"""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from click import ClickException

import minitape

from ..common.atomic_write import write_file
from ..common.read_data import read_bytes
from ..common.translation import TEXTS_FOLDER as TEXTS
from ..engine.types import NameSet, OptionalPath, PathList, TextList
from .lesson_files import find_lesson_folders_by_language
from .messages import create_failed_action_error

PYTHON_FOLDER = "pyodide"
"""The folder of Python in a site."""
LOCK_FILE = "pyodide-lock.json"
CORE_FILES = ("pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOADER_FILES = ("pyodide.asm.js", "pyodide.asm.mjs")
"""The file that the first core file loads. Each version of Pyodide contains exactly one of these files."""
CDN_URL = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
PLAYGROUND_PACKAGES = ("numpy", "ml-dtypes", "minitape")
"""The packages that the playground loads."""
KERNEL_PACKAGES = "ipython micropip packaging traitlets typing-extensions".split()
"""The packages of Pyodide that the kernel needs."""
UNUSED_PACKAGES = "jedi parso prompt-toolkit wcwidth".split()
"""The dependencies that IPython needs only in a terminal and for completion. The kernel starts faster without them."""
FRONT_END_PACKAGES = "ipywidgets anywidget psygnal comm".split()
"""The packages from the package index that live pictures need."""
EXCLUDED_FOLDERS = {"lessons", "cli"}
"""Folders at the top of minitape that the wheel does not need. The site contains the notebooks as files."""
CACHE_FOLDERS = {"__pycache__", ".ipynb_checkpoints"}

# Pyodide defines the JSON format of the lock file.
Lock = dict[str, Any]
"""Pyodide's lock file, or its packages keyed by name."""


def write_browser_python(
    target_folder: Path,
    pyodide_folder: OptionalPath,
    pyodide_version: str,
    is_copied: bool,
    kernel_wheels: Iterable[Path],
) -> TextList:
    """Write the Python files for a site.

    Args:
        target_folder: The folder to write to. Existing content is deleted.
        pyodide_folder: A folder with a Pyodide distribution, or None to use Pyodide's CDN.
        pyodide_version: The Pyodide version on the CDN.
        is_copied: Whether to copy Pyodide into the site, as is necessary for a Pyodide from a folder. Otherwise, the
            reader's browser loads Pyodide from the CDN.
        kernel_wheels: The wheels for JupyterLite's kernel, to be copied to the site.

    Returns:
        The packages that a notebook's kernel loads.

    Raises:
        click.ClickException: If Pyodide is unavailable or does not include a required package.
    """
    shutil.rmtree(target_folder, ignore_errors=True)
    target_folder.mkdir(parents=True)
    base_url = "" if pyodide_folder else CDN_URL.format(version=pyodide_version)
    lock: Lock = json.loads(_read_pyodide_file(pyodide_folder, base_url, LOCK_FILE))
    packages = lock["packages"]
    for entry in packages.values():
        entry["depends"] = [need for need in entry["depends"] if _normalize_package_name(need) not in UNUSED_PACKAGES]
    if pyodide_folder is not None:
        check_pyodide_folder_is_complete(pyodide_folder, packages)
    local_wheels = [
        write_minitape_wheel(target_folder),
        *_download_front_end_wheels(target_folder),
        *(Path(shutil.copy(wheel, target_folder)) for wheel in kernel_wheels),
    ]
    local_entries = dict(map(_build_named_lock_entry, local_wheels))
    packages |= local_entries
    loaded_packages = [
        name for name in dict.fromkeys([*PLAYGROUND_PACKAGES, *KERNEL_PACKAGES, *local_entries]) if name in packages
    ]
    lock["packages"] = packages = {
        name: packages[name] for name in _list_names_with_dependencies(packages, loaded_packages)
    }
    for name in packages.keys() - local_entries:
        entry = packages[name]
        if is_copied:
            content = _read_pyodide_file(pyodide_folder, base_url, entry["file_name"])
            if sha256(content).hexdigest() != entry["sha256"]:
                raise ClickException(f"{entry['file_name']} is not the file that {LOCK_FILE} describes")
            write_file(target_folder / entry["file_name"], content)
        else:
            entry["file_name"] = base_url + entry["file_name"]
    if is_copied:
        for name in (*CORE_FILES, _find_loader_file_name(pyodide_folder, base_url)):
            write_file(target_folder / name, _read_pyodide_file(pyodide_folder, base_url, name))
    write_file(target_folder / LOCK_FILE, json.dumps(lock, separators=(",", ":")))
    return loaded_packages


def check_pyodide_folder_is_complete(pyodide_folder: Path, packages: Lock) -> None:
    """Check that a folder contains everything that the lessons need.

    Args:
        pyodide_folder: The folder with a Pyodide distribution.
        packages: The packages in its lock file, keyed by name.

    Raises:
        click.ClickException: If packages or files are missing. The message names all of them.
    """
    needed_files = list(CORE_FILES)
    if (pyodide_folder / CORE_FILES[0]).is_file():
        needed_files.append(_find_loader_file_name(pyodide_folder, ""))
    missing = []
    for name in _list_names_with_dependencies(packages, ["numpy", *KERNEL_PACKAGES]):
        if name in packages:
            needed_files.append(packages[name]["file_name"])
        else:
            missing.append(f"{name} ({LOCK_FILE})")
    missing += [name for name in needed_files if not (pyodide_folder / name).is_file()]
    if missing:
        raise create_failed_action_error(
            "no lesson would run with the Pyodide in {folder}, because it lacks {names}. Unpack Pyodide's full "
            "distribution, which has all packages, and pass its folder: --pyodide FOLDER",
            folder=pyodide_folder,
            names=", ".join(missing),
        )


def list_core_file_urls(loader_url: str) -> TextList:
    """List the URLs of the files that Python needs to start.

    >>> list_core_file_urls("../pyodide/pyodide.mjs")
    ['../pyodide/pyodide.mjs', '../pyodide/pyodide.asm.wasm', '../pyodide/python_stdlib.zip']

    Args:
        loader_url: The address of the first file, ``pyodide.mjs``.

    Returns:
        The addresses, in the order of `CORE_FILES`.
    """
    return [loader_url.removesuffix(CORE_FILES[0]) + name for name in CORE_FILES]


def _read_pyodide_file(pyodide_folder: OptionalPath, base_url: str, file_name: str) -> bytes:
    """Read a Pyodide file from its folder or, if no folder is given, download it from ``base_url``."""
    try:
        if pyodide_folder is not None:
            return read_bytes(pyodide_folder / file_name)
        with urlopen(base_url + file_name, timeout=60) as response:
            return bytes(response.read())
    except OSError as error:
        raise create_failed_action_error(
            "could not get Pyodide's {name}: {error}. Unpack a Pyodide distribution into a folder and pass that "
            "folder: --pyodide FOLDER",
            name=file_name,
            error=error,
        ) from error


def _find_loader_file_name(pyodide_folder: OptionalPath, base_url: str) -> str:
    """Return the name of the file that `pyodide.mjs` loads next. Pyodide 314 changed this name."""
    core_script = _read_pyodide_file(pyodide_folder, base_url, CORE_FILES[0])
    return LOADER_FILES[1] if LOADER_FILES[1].encode() in core_script else LOADER_FILES[0]


def _normalize_package_name(package_name: str) -> str:
    return re.sub(r"[-_.]+", "-", package_name).lower()


def _list_names_with_dependencies(lock_entries: Lock, package_names: Iterable[str]) -> TextList:
    """Return the sorted names of packages and all their dependencies."""
    resolved: NameSet = set()
    pending = list(package_names)
    while pending:
        name = pending.pop()
        if name not in resolved:
            resolved.add(name)
            if name in lock_entries:
                pending += map(_normalize_package_name, lock_entries[name]["depends"])
    return sorted(resolved)


def _download_front_end_wheels(target_folder: Path) -> PathList:
    """Download the wheels that live pictures require.

    These must be the installed versions, because the site contains the front ends that match them.
    """
    requirements = [f"{name}=={version(name)}" for name in FRONT_END_PACKAGES]
    # `--platform any` excludes compiled wheels.
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--platform", "any"]
    process = subprocess.run([*command, "-d", str(target_folder), *requirements], capture_output=True, text=True)
    if process.returncode:
        raise ClickException(f"pip cannot get {', '.join(requirements)}:\n{process.stderr}")
    return sorted(path for name in FRONT_END_PACKAGES for path in target_folder.glob(f"{name}-*.whl"))


def write_minitape_wheel(target_folder: Path) -> Path:
    """Write a minitape wheel from the files that this process is running.

    The wheel contains the source code and the translations of the lessons, but not the notebooks.

    Args:
        target_folder: The folder to write to.

    Returns:
        The path of the wheel.
    """
    name = f"minitape-{minitape.__version__}"
    info_folder = f"{name}.dist-info"
    files = {archive_path: path.read_bytes() for archive_path, path in _iter_archive_paths_and_files()}
    files[f"{info_folder}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: minitape\nVersion: {minitape.__version__}\n".encode()
    )
    files[f"{info_folder}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: minitape\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info_folder}/RECORD"] = "".join(
        f"{archive_path},,\n" for archive_path in [*files, f"{info_folder}/RECORD"]
    ).encode()
    wheel = target_folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for archive_path, content in files.items():
            # A ZipInfo has a fixed timestamp, which makes the wheel reproducible.
            archive.writestr(zipfile.ZipInfo(archive_path), content, zipfile.ZIP_DEFLATED)
    return wheel


def _iter_archive_paths_and_files() -> Iterator[tuple[str, Path]]:
    """Yield each file that belongs in the wheel, as (path in the wheel, path on disk)."""
    for name in ("minitape", "minitape_widgets"):
        package = Path(str(import_module(name).__file__)).parent
        for path in sorted(package.rglob("*")):
            parts = path.relative_to(package.parent).parts
            is_excluded = parts[1] in EXCLUDED_FOLDERS or CACHE_FOLDERS & {*parts} or path.suffix in (".pyi", ".pyc")
            if path.is_file() and not is_excluded:
                yield "/".join(parts), path
    for language, lessons_folder in find_lesson_folders_by_language().items():
        for path in sorted((lessons_folder / TEXTS).glob("*.po")):
            yield f"minitape/lessons/{language}/{TEXTS}/{path.name}", path


def _build_named_lock_entry(wheel_path: Path) -> tuple[str, Lock]:
    """Return the name of a wheel's package and the package's lock file entry.

    The entry lists no dependencies, because the site requests every package by name.
    """
    with zipfile.ZipFile(wheel_path) as archive:
        top_level_names = {name.split("/")[0].removesuffix(".py") for name in archive.namelist()}
    distribution, wheel_version, *_ = wheel_path.name.split("-")
    name = _normalize_package_name(distribution)
    return name, {
        "name": name,
        "version": wheel_version,
        "file_name": wheel_path.name,
        "install_dir": "site",
        "sha256": sha256(wheel_path.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(module for module in top_level_names if module.isidentifier()),
        "depends": [],
        "unvendored_tests": False,
    }
