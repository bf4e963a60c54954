"""The Python of a site that runs in the reader's browser: Pyodide, the packages of a lesson and minitape. All are
named in one lock file, so that the kernel has them when it starts and asks no index.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias
from urllib.request import urlopen

import click

import minitape

from ..common.read_data import NOTEBOOK, read_bytes, read_json
from ..common.texts import ENGLISH
from ..common.texts import FOLDER as TEXTS
from ..common.write_beside import write
from .lessons import languages, lessons_folder, notebooks_in
from .rules import SOLUTION, tags_of

FOLDER = "pyodide"  # in a site
LOCK = "pyodide-lock.json"
CORE = ("pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOADERS = ("pyodide.asm.js", "pyodide.asm.mjs")  # a version of Pyodide has one of them
CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
PLAYGROUND = ("numpy", "ml-dtypes", "minitape")
"""What the playground loads."""
KERNEL = "ipython micropip packaging traitlets typing-extensions".split()
"""What the kernel needs of Pyodide's packages."""
UNUSED = "jedi parso prompt-toolkit wcwidth".split()
"""What IPython asks for, and the kernel starts sooner without: its terminal, and jedi."""
FETCHED = "ipywidgets anywidget psygnal comm".split()  # what live pictures need of the index
LEFT_OUT = "lessons cli __pycache__ .ipynb_checkpoints".split()  # of minitape: the site has the lessons as files

Lock: TypeAlias = dict[str, Any]  # of Pyodide's JSON


def write_python(out: Path, pyodide: Path | None, number: str, offline: bool, kernel: Iterable[Path]) -> list[str]:
    """Write what a site needs of Python to the folder `out`, with the wheels of its `kernel`; give back the packages
    that a notebook's kernel loads.

    Pyodide comes from the folder `pyodide`, which holds a distribution, else from its CDN: with `offline` it is copied
    into the site, without it the reader's browser fetches it there.

    Raises click.ClickException where Pyodide cannot be had or lacks a package.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    base = "" if pyodide else CDN.format(version=number)
    lock: Lock = json.loads(_read(pyodide, base, LOCK))
    packages = lock["packages"]
    if missing := [name for name in ("numpy", *KERNEL) if name not in packages]:
        raise click.ClickException(f"this Pyodide lacks {', '.join(missing)}")
    own = [write_wheel(out), *_from_index(out), *(Path(shutil.copy(wheel, out)) for wheel in kernel)]
    brought = dict(map(_entry, own))
    packages |= brought
    for entry in packages.values():
        entry["depends"] = [need for need in entry["depends"] if _normal(need) not in UNUSED]
    loaded = [name for name in dict.fromkeys([*PLAYGROUND, *KERNEL, *brought]) if name in packages]
    lock["packages"] = packages = {name: packages[name] for name in _with_needs(packages, loaded)}
    copied = offline or pyodide is not None
    for name in packages.keys() - brought:
        entry = packages[name]
        if copied:
            content = _read(pyodide, base, entry["file_name"])
            if hashlib.sha256(content).hexdigest() != entry["sha256"]:
                raise click.ClickException(f"{entry['file_name']} is not the file that {LOCK} describes")
            write(out / entry["file_name"], content)
        else:
            entry["file_name"] = base + entry["file_name"]
    for name in (*CORE, _loader(pyodide, base)) if copied else ():
        write(out / name, _read(pyodide, base, name))
    write(out / LOCK, json.dumps(lock, separators=(",", ":")))
    return loaded


def _read(folder: Path | None, base: str, name: str) -> bytes:
    try:
        if folder is not None:
            return read_bytes(folder / name)
        with urlopen(base + name, timeout=60) as answer:
            return bytes(answer.read())
    except OSError as error:
        raise click.ClickException(f"{name} of Pyodide cannot be had: {error}") from error


def _loader(folder: Path | None, base: str) -> str:
    """The file that `pyodide.mjs` loads next: it has another name since Pyodide 314."""
    named = _read(folder, base, CORE[0])
    return LOADERS[1] if LOADERS[1].encode() in named else LOADERS[0]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _with_needs(packages: Lock, names: Iterable[str]) -> list[str]:
    """These packages with all that they need."""
    found: dict[str, None] = {}
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in found:
            found[name] = None
            ahead += map(_normal, packages[name]["depends"])
    return sorted(found)


def _from_index(out: Path) -> list[Path]:
    """The wheels of what live pictures need, as they are installed here: their front ends are in the site."""
    wanted = [f"{name}=={version(name)}" for name in FETCHED]
    # `--platform any` leaves out what was compiled
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--platform", "any"]
    done = subprocess.run([*command, "-d", str(out), *wanted], capture_output=True, text=True)
    if done.returncode:
        raise click.ClickException(f"pip cannot get {', '.join(wanted)}:\n{done.stderr}")
    return sorted(path for name in FETCHED for path in out.glob(f"{name}-*.whl"))


def write_wheel(folder: Path) -> Path:
    """Write minitape's wheel to a folder, of the files that this process runs, and of the lessons the solutions alone;
    give back its path.
    """
    name = f"minitape-{minitape.__version__}"
    info = f"{name}.dist-info"
    files = {place: path.read_bytes() for place, path in _own_files()} | dict(_solutions())
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: minitape\nVersion: {minitape.__version__}\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: minitape\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = "".join(f"{place},,\n" for place in [*files, f"{info}/RECORD"]).encode()
    wheel = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for place, content in files.items():
            entry = zipfile.ZipInfo(place)  # of no particular time: the same files give the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def _own_files() -> Iterator[tuple[str, Path]]:
    for name in ("minitape", "minitape_widgets"):
        package = Path(str(import_module(name).__file__)).parent
        for path in sorted(package.rglob("*")):
            parts = path.relative_to(package.parent).parts
            if path.is_file() and path.suffix not in (".pyi", ".pyc") and not set(parts) & set(LEFT_OUT):
                yield "/".join(parts), path
    for language, lessons in languages().items():  # what is said in it
        for path in sorted((lessons / TEXTS).glob("*.po")):
            yield f"minitape/lessons/{language}/{TEXTS}/{path.name}", path


def _solutions() -> Iterator[tuple[str, bytes]]:
    """Notebooks with nothing but the folded solutions, beside which `check` puts a wrong program."""
    for path in notebooks_in(lessons_folder()):
        found = [cell for cell in read_json(path, NOTEBOOK)["cells"] if SOLUTION in tags_of(cell)]
        about = {"cells": found, "metadata": {"language": ENGLISH}}
        yield f"minitape/lessons/{ENGLISH}/{path.name}", json.dumps(about).encode()


def _entry(wheel: Path) -> tuple[str, Lock]:
    """A wheel's name and what the lock file says of it. The site names all, so none needs another."""
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0].removesuffix(".py") for name in archive.namelist()}
    first, number, *_ = wheel.name.split("-")
    name = _normal(first)
    return name, {
        "name": name,
        "version": number,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(module for module in top if module.isidentifier()),
        "depends": [],
        "unvendored_tests": False,
    }
