"""`minitape/` has few packages, whose imports go one way, and no large circles of files."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

import minitape
from minitape.engine.hooks import Hooks, hooks, parse_name_table

PACKAGE = Path(minitape.__file__).parent
REPOSITORY = PACKAGE.parent
MOST_ENTRIES = 17
LARGEST_CIRCLE = 3
# These are files, not packages.
AROUND = {"__init__.py", "__init__.pyi", "__pycache__"}


@pytest.fixture(scope="module")
def imports():
    """Return for each module the modules that it imports at run time, including imports inside functions."""
    graph = grimp.build_graph("minitape", exclude_type_checking_imports=True)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_the_folder_shows_its_packages():
    # Stubs such as minitape/math.pyi, and folders that contain only stubs, are not packages.
    entries = {p.name for p in PACKAGE.iterdir() if p.suffix != ".pyi" and (p.is_file() or [*p.glob("*.py")])} - AROUND
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


@pytest.mark.skipif(not (REPOSITORY / "pyproject.toml").exists(), reason="the contracts are in the repository")
def test_the_contracts_hold():
    """Imports follow the layers in pyproject.toml. `lint-imports` gives more details."""
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0 and "Contracts: 5 kept, 0 broken." in done.stdout, done.stdout + done.stderr


WRITES = {  # The other places that open a file for writing, and the reasons.
    "minitape/cli/messages.py": "the text of --help, which no file has",
    "minitape/bridges/run_watch/waiting_copies.py": "pipes to processes that were begun here, and the null device",
    "minitape/bridges/callbacks.py": "a training's log of JSON lines grows line by line",
    "widgets/minitape_widgets/lesson_views.py": "the same, and a place for what nobody is to see",
}


def test_files_are_written_by_one_module():
    """Files are written with ``common/atomic_write.py``, which keeps the old file until the new one is complete."""
    writing = re.compile(
        r"\.write_(?:text|bytes)\(|\bos\.open\(|\bmkstemp\(|\bnp\.savez?\(|\bjson\.dump\(|open\([^)]*[\"'][wax]b?\+?[\"']"
    )
    files = [path for folder in (PACKAGE, REPOSITORY / "widgets" / "minitape_widgets") for path in folder.rglob("*.py")]
    found = {
        f"{path.relative_to(REPOSITORY).as_posix()}: {line.strip()}"
        for path in files
        if path.name != "atomic_write.py" and path.relative_to(REPOSITORY).as_posix() not in WRITES
        for line in path.read_text(encoding="utf-8").splitlines()
        if writing.search(line) and not line.lstrip().startswith((">>>", "..."))
    }
    assert len(files) > 300 and found == set()
    assert writing.search('path.write_text(text, encoding="utf-8")') and writing.search("with path.open('xb') as file:")


READS = {  # The other files that are read, and why none of them comes from others.
    "minitape/cli/browser_python.py": "the list of a Pyodide, which runs in the reader's browser and not here",
    "widgets/minitape_widgets/playground.py": "what a page asks of the Python in the same browser",
    "minitape/cli/check_notebooks.py": "what nbval, which runs here, tells of each cell",
    "minitape/cli/lesson_pages.py": "what a process told that was begun here",
    "minitape/bridges/run_watch/waiting_copies.py": "the same",
    "minitape/cli/cause_page.py": "the pages about causes, files of the package",
    "minitape/cli/lesson_files.py": "the course's own pictures and data, which are copied",
    "minitape/course/datasets.py": "a file of the package",
    "widgets/minitape_widgets/digit_pad.py": "the same",
    "minitape/course/digits.py": "the same",
    "minitape/course/prediction_buttons.py": "the same",
    "minitape/course/slideshow.py": "the same",
    "minitape/course/framework_programs.py": "the same",
    "minitape/common/translation.py": "the same: the quoted lines of its texts",
    "minitape/speed/code_cache.py": "compiled code, in a folder that only the user can write to",
    "minitape/speed/machine_code.py": "the same",
    "widgets/minitape_widgets/front_end.py": "a file of the package",
    "widgets/minitape_widgets/script_page.py": "the same",
    "widgets/minitape_widgets/lesson_views.py": "the same",
    "widgets/minitape_widgets/wire_format.py": "what it encoded itself",
}


def test_what_others_wrote_is_read_by_one_module():
    """Files from others are read with ``common/read_data.py``, as text or JSON of limited size."""
    reading = re.compile(
        r"\.read_(?:text|bytes)\(|\bjson\.loads?\(|\bnbformat\.read\(|\bnp\.load\(|\bpickle\.|\byaml\.|\btomllib\.|\bcsv\.reader\("
    )
    files = [path for folder in (PACKAGE, REPOSITORY / "widgets" / "minitape_widgets") for path in folder.rglob("*.py")]
    found = {
        path.relative_to(REPOSITORY).as_posix()
        for path in files
        if path.name != "read_data.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if reading.search(line) and not line.lstrip().startswith((">>>", "...", "#"))
    }
    assert sorted(found - READS.keys()) == [] and reading.search("kept = json.loads(file.read_text())")
    used = [path for path in files if "read_data import" in path.read_text(encoding="utf-8")]
    assert len(used) > 10


def test_files_that_import_each_other_in_a_circle_are_few(imports):
    found = [sorted(circle) for circle in iter_import_circles(imports)]
    assert [circle for circle in found if len(circle) > LARGEST_CIRCLE] == []
    assert [circle for circle in found if len({get_package(module) for module in circle}) > 1] == []


def test_a_circle_is_seen():
    assert list(iter_import_circles({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set()})) == [{"a", "b", "c"}]


def get_package(module: str) -> str:
    """Return the package of a module."""
    return ".".join(module.split(".")[:2])


def iter_import_circles(imports):
    """Return the sets of two or more modules that import each other, directly or indirectly (Tarjan, 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    for start in imports:
        if start in number:
            continue
        steps = [(start, iter(sorted(imports[start])))]
        number[start] = lowest[start] = len(number)
        path.append(start)
        while steps:
            module, rest = steps[-1]
            following = next(rest, None)
            if following is None:
                steps.pop()
                if steps:
                    lowest[steps[-1][0]] = min(lowest[steps[-1][0]], lowest[module])
                if lowest[module] == number[module]:
                    circle = set(path[path.index(module) :])
                    del path[path.index(module) :]
                    if len(circle) > 1:
                        yield circle
            elif following not in number:
                number[following] = lowest[following] = len(number)
                path.append(following)
                steps.append((following, iter(sorted(imports[following]))))
            elif following in path:
                lowest[module] = min(lowest[module], number[following])


# A package above that is named in a string, and why that is not an import in disguise.
NAMED = {
    "minitape/__init__.py": "the table of hooks",
    "minitape/common/lazy_names.py": "tells the two packages apart in that table",
    "minitape/cli/lesson_pages.py": "starts a program of its own, as a shell would",
    "minitape/cli/browser_python.py": "lists the packages that a browser's Python is given",
    "minitape/explain/uncaught_errors.py": "asks sys.modules whether this is a lesson's kernel",
    "minitape/functions/tf1_graph.py": "compares the module of a caller's function with it",
    "minitape/course/tape_playback.py": "asks sys.modules whether a program has loaded the views",
}


def list_upward_module_strings(module: str, text: str, layers: list[list[str]]) -> list[str]:
    """List the string constants in a module's text that name a module of a layer above it.

    Args:
        module: The dotted name of the module, such as "minitape.course.judge".
        text: Its source.
        layers: The layers from the highest to the lowest, each with the packages that share it.
    """
    own = next((k for k, names in enumerate(layers) if module.startswith(tuple(f"{n}." for n in names))), 0)
    above = tuple(name for names in layers[:own] for name in names)
    return [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[\w.]+", node.value)
        and f"{node.value}.".startswith(tuple(f"{name}." for name in above))
    ]


def read_contract_layers() -> list[list[str]]:
    """Read the layers of pyproject.toml."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [layer.split(" | ") for layer in layers]


@pytest.mark.skipif(not (REPOSITORY / "pyproject.toml").exists(), reason="the contracts are in the repository")
def test_no_string_names_a_package_above():
    """`import_module("minitape_widgets.x")` is an import that lint-imports cannot see: it goes through the hooks."""
    layers = read_contract_layers()
    assert layers[0] == ["minitape_widgets"]
    found = {}
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(REPOSITORY).as_posix()
        module = place.removesuffix(".py").replace("/", ".")
        if place not in NAMED and (
            names := list_upward_module_strings(module, path.read_text(encoding="utf-8"), layers)
        ):
            found[place] = names
    assert found == {}


def test_a_string_that_names_a_package_above_is_seen():
    layers = [["minitape_widgets"], ["minitape.cli"], ["minitape.explain", "minitape.picture"], ["minitape.engine"]]
    text = 'import_module("minitape.picture.drawing"); import_module("minitape.engine.types")'
    assert list_upward_module_strings("minitape.engine.hooks", text, layers) == ["minitape.picture.drawing"]
    assert list_upward_module_strings("minitape.explain.page", text, layers) == []


def test_every_question_to_a_package_above_has_an_answer_and_every_answer_a_question():
    told = set(parse_name_table(minitape._HOOKS))
    files = [path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts and path.name != "hooks.py"]
    texts = [text for path in files if "import hooks" in (text := path.read_text(encoding="utf-8"))]
    asked = {name for text in texts for name in re.findall(r"(?<!/)\bhooks\.([a-z]\w*)", text)}
    assert asked - {"register"} == told
    assert [name for name in told if not hasattr(hooks, name)] == []


def test_a_question_without_an_answer_says_where_answers_stand():
    with pytest.raises(AttributeError, match=r"minitape/__init__\.py"):
        Hooks().add_notes_why_gradients_are_none  # noqa: B018
