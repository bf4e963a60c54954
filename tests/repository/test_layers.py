"""The packages of `minitape/`: few, with imports that go one way, and without large circles of files."""

import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

import minitape
from minitape.engine.hooks import Hooks, hooks, places

PACKAGE = Path(minitape.__file__).parent
REPOSITORY = PACKAGE.parent
MOST_ENTRIES = 17
LARGEST_CIRCLE = 3
# files, not packages
AROUND = {"__init__.py", "__init__.pyi", "__pycache__"}


@pytest.fixture(scope="module")
def imports():
    """Module -> the modules that it imports while it runs, also inside functions."""
    graph = grimp.build_graph("minitape", exclude_type_checking_imports=True)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_the_folder_shows_its_packages():
    # stubs of public paths such as minitape/math.pyi, and folders of nothing else, are no packages
    entries = {p.name for p in PACKAGE.iterdir() if p.suffix != ".pyi" and (p.is_file() or [*p.glob("*.py")])} - AROUND
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


@pytest.mark.skipif(not (REPOSITORY / "pyproject.toml").exists(), reason="the contracts are in the repository")
def test_the_contracts_hold():
    """Those of pyproject.toml: `lint-imports` says more."""
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0 and "Contracts: 5 kept, 0 broken." in done.stdout, done.stdout + done.stderr


WRITES = {  # where a file is opened for writing elsewhere, and why
    "minitape/cli/messages.py": "the text of --help, which no file has",
    "minitape/bridges/callbacks.py": "a training's log of JSON lines grows line by line",
    "minitape/picture/programs.py": "what another program is to read stands in a folder that goes at once",
    "widgets/minitape_widgets/lesson_views.py": "the same, and a place for what nobody is to see",
}


def test_files_are_written_by_one_module():
    """``common/write_beside.py``: the old file stays until the new one is whole."""
    writing = re.compile(
        r"\.write_(?:text|bytes)\(|\bos\.open\(|\bmkstemp\(|\bnp\.savez?\(|\bjson\.dump\(|open\([^)]*[\"'][wax]b?\+?[\"']"
    )
    files = [path for folder in (PACKAGE, REPOSITORY / "widgets" / "minitape_widgets") for path in folder.rglob("*.py")]
    found = {
        f"{path.relative_to(REPOSITORY).as_posix()}: {line.strip()}"
        for path in files
        if path.name != "write_beside.py" and path.relative_to(REPOSITORY).as_posix() not in WRITES
        for line in path.read_text(encoding="utf-8").splitlines()
        if writing.search(line) and not line.lstrip().startswith((">>>", "..."))
    }
    assert len(files) > 300 and found == set()
    assert writing.search('path.write_text(text, encoding="utf-8")') and writing.search("with path.open('xb') as file:")


READS = {  # what is read elsewhere, and why: none of it was written by others
    "minitape/cli/browser_python.py": "the list of a Pyodide, which runs in the reader's browser and not here",
    "widgets/minitape_widgets/playground.py": "what a page asks of the Python in the same browser",
    "minitape/cli/check.py": "what nbval, which runs here, tells of each cell",
    "minitape/cli/lesson_pages.py": "what a process told that was begun here",
    "minitape/cli/lessons.py": "the course's own pictures and data, which are copied",
    "minitape/course/datasets.py": "a file of the package",
    "minitape/course/choices.py": "the same",
    "minitape/course/moving.py": "the same",
    "minitape/course/programs.py": "the same",
    "minitape/common/texts.py": "the same: the quoted lines of its texts",
    "minitape/picture/programs.py": "what another program made here of our own picture",
    "minitape/speed/cache.py": "compiled code, in a folder that only the user can write to",
    "minitape/speed/machine_code.py": "the same",
    "widgets/minitape_widgets/engine.py": "a file of the package",
    "widgets/minitape_widgets/page.py": "the same",
    "widgets/minitape_widgets/wire.py": "what it encoded itself",
}


def test_what_others_wrote_is_read_by_one_module():
    """``common/read_data.py``: of a bounded size, as text or JSON."""
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
    found = [sorted(circle) for circle in circles(imports)]
    assert [circle for circle in found if len(circle) > LARGEST_CIRCLE] == []
    assert [circle for circle in found if len({package_of(module) for module in circle}) > 1] == []


def test_a_circle_is_seen():
    assert list(circles({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set()})) == [{"a", "b", "c"}]


def package_of(module: str) -> str:
    """The package of a module."""
    return ".".join(module.split(".")[:2])


def circles(imports):
    """The sets of two modules or more each of which imports all others, in one step or several (Tarjan, 1972)."""
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


def test_every_question_to_a_package_above_has_an_answer_and_every_answer_a_question():
    told = set(places(minitape._HOOKS))
    files = [path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts and path.name != "hooks.py"]
    texts = [text for path in files if "import hooks" in (text := path.read_text(encoding="utf-8"))]
    asked = {name for text in texts for name in re.findall(r"(?<!/)\bhooks\.([a-z]\w*)", text)}
    assert asked - {"register"} == told
    assert [name for name in told if not hasattr(hooks, name)] == []


def test_a_question_without_an_answer_says_where_answers_stand():
    with pytest.raises(AttributeError, match=r"minitape/__init__\.py"):
        Hooks().why_none  # noqa: B018
