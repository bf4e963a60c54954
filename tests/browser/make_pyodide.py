"""Build a Pyodide distribution from packages on npm and PyPI, for tests that cannot reach a CDN.

    python tests/browser/make_pyodide.py OUT

OUT/pyodide will contain Pyodide 0.27, the last version for which npm has NumPy, together with IPython and the packages
that JupyterLite's kernel needs. `ssl`, `sqlite3` and `micropip` are stubs, because IPython and the kernel import them
but no lesson uses them.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PYODIDE, NUMPY = "pyodide@0.27.6", "@emscripten-forge/numpy@2.0.1-py312h4e66579-0"
IMPORTS = "wasmImports={"
TAG = "cp312-cp312-pyodide_2024_0_wasm32"
# These are pure Python packages. PyPI provides the versions that the lock file lists.
PURE = (
    "ipython asttokens six decorator executing matplotlib-inline traitlets pure-eval pygments stack-data wcwidth "
    "packaging jedi parso typing-extensions prompt-toolkit"
).split()
STAND_IN = """
class SSLError(OSError): pass
class SSLContext: pass
class Connection: pass
OperationalError = DatabaseError = Exception
PARSE_DECLTYPES = threadsafety = 1
def create_default_context(*a, **k): return None
def connect(*a, **k): raise OperationalError("there is no sqlite here")
"""
NO_INDEX = """
class CompatibilityLayer: pass
class ProjectInfo: pass
async def query_package(*a, **k): raise ValueError("there is no index here")
install = query_package
"""
STAND_INS = {
    "ssl": {"ssl/__init__.py": STAND_IN},
    "sqlite3": {"sqlite3/__init__.py": STAND_IN},
    "micropip": {"micropip/__init__.py": NO_INDEX, "micropip/package_index.py": NO_INDEX},
}


def download_npm_package(package: str, scratch: Path) -> Path:
    """Download a package from npm and return the folder of its files."""
    process = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=scratch, check=True, capture_output=True, text=True, timeout=300
    )
    archive = scratch / process.stdout.split()[-1]
    folder = scratch / archive.stem
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / "package"


def download_wheels(requirements: list[str], scratch: Path) -> list[Path]:
    """Download the wheels of the given packages from PyPI."""
    command = [sys.executable, *"-m pip download -q --no-deps --only-binary=:all: --python-version 312".split()]
    subprocess.run([*command, "-d", str(scratch / "pypi"), *requirements], check=True, capture_output=True, timeout=300)
    return sorted((scratch / "pypi").glob("*.whl"))


def write_wheel(path: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    info = f"{name}-{version}.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            archive.writestr(place, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{place},,\n" for place in [*files, f"{info}/RECORD"]))


def read_numpy_files(scratch: Path) -> dict[str, bytes]:
    """Return the content of NumPy's files by path, without its tests."""
    archive = next((download_npm_package(NUMPY, scratch) / "pkg").glob("numpy-*.tar.gz"))
    with tarfile.open(archive) as files:
        files.extractall(scratch / "numpy", filter="data")
    site = scratch / "numpy/lib/python3.12/site-packages"
    paths = (
        path for path in (site / "numpy").rglob("*") if path.is_file() and not {"tests", "__pycache__"} & {*path.parts}
    )
    return {str(path.relative_to(site)): path.read_bytes() for path in paths}


def build_pyodide(target_folder: Path) -> Path:
    """Build OUT/pyodide and return its path."""
    home = target_folder / "pyodide"
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        shutil.copytree(download_npm_package(PYODIDE, scratch), home)
        # Before it reuses a large intermediate array, this NumPy inspects the C call stack, which Pyodide does not
        # support.
        runtime = home / "pyodide.asm.js"
        text = runtime.read_text(encoding="utf-8")
        assert text.count(IMPORTS) == 1
        runtime.write_text(text.replace(IMPORTS, f"{IMPORTS}backtrace:()=>0,"), encoding="utf-8")
        lock = json.loads((home / "pyodide-lock.json").read_text())
        packages = lock["packages"]

        def note_package_file(name: str, file: Path) -> None:
            packages[name]["file_name"] = file.name
            packages[name]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()

        for name, version, files in (
            ("numpy", "2.0.2", read_numpy_files(scratch)),
            *(
                (name, "1.0.0", {path: text.encode() for path, text in files.items()})
                for name, files in STAND_INS.items()
            ),
        ):
            wheel = home / f"{name}-{version}-{TAG}.whl"
            write_wheel(wheel, name, version, files)
            packages[name]["depends"] = []
            note_package_file(name, wheel)
        versions = {name: packages[name]["version"] for name in PURE}
        for wheel in download_wheels([f"{name}=={version}" for name, version in versions.items()], scratch):
            note_package_file(wheel.name.split("-")[0].lower().replace("_", "-"), Path(shutil.copy(wheel, home)))
        lock["packages"] = {name: entry for name, entry in packages.items() if (home / entry["file_name"]).is_file()}
        (home / "pyodide-lock.json").write_text(json.dumps(lock))
    return home


if __name__ == "__main__":
    print(build_pyodide(Path(sys.argv[1]).absolute()))
