"""Learners get and keep lessons in their language, every command supports it, and languages can be added."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from minitape.cli import main, new_lesson
from minitape.cli.check_notebooks import _prepare_run_paths
from minitape.cli.class_figures import compute_class_figures
from minitape.cli.course_map import MAP_FILE
from minitape.cli.handins import find_hand_in_files_by_learner, read_hand_ins
from minitape.cli.kernel import prepare_kernel_environment
from minitape.cli.lesson_files import (
    copy_missing_lessons,
    find_lessons_folder,
    list_notebook_files,
    map_names_to_titles,
)
from minitape.cli.nbgrader import export_lesson
from minitape.common import translation
from minitape.common.atomic_write import write_file
from minitape.common.translation import LANGUAGE_VARIABLES, find_lessons_language, load_translations
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.course_texts import TEXTS_FOLDER
from minitape.picture.truncation import measure_width
from tests.translate import synchronize_translation

FIRST = "01_the_first_tape.ipynb"
SWITCH = "English: minitape lab --language en · 中文: minitape lab --language zh"


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Return a function that runs `minitape lab --copy-only` in an empty folder, with these language variables."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0, **variables):
        for name in LANGUAGE_VARIABLES:
            monkeypatch.setenv(name, variables.get(name, ""))
        done = CliRunner().invoke(main, ["lab", "--copy-only", *map(str, arguments)], catch_exceptions=False)
        assert done.exit_code == code, done.output
        return done.output

    return run


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("arguments", [
    "--help", "lab --help", "explain --help", "site --help", "explain", "nosuch", "explain --steps 0 a.py",
    "explain --framwork torch a.py", "export 01", "lab --ip", "warmup a b", "check nosuch.ipynb",
])  # fmt: skip
def test_the_command_line_speaks_chinese(arguments, tmp_path):
    """Click translates its own texts with gettext, which has no Chinese translation of them."""
    done = subprocess.run(
        [sys.executable, "-m", "minitape", *arguments.split()], capture_output=True, text=True, encoding="utf-8",
        cwd=tmp_path, env=os.environ | {LANGUAGE_VARIABLES[0]: "zh", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert re.search("[\u4e00-\u9fff]", said)
    assert re.findall(r"\b[A-Z][a-z]+ [a-z]+(?: [a-z]+)?\b|\[(?:default|required)[^]]*", said) == []


@pytest.mark.parametrize(("variables", "language"), [
    ({}, "en"), ({"LANG": "C.UTF-8"}, "en"), ({"LANG": "zh_CN.UTF-8"}, "zh"), ({"LANG": "zh_TW"}, "zh"),
    ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh"), ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
    ({"LANG": "de_DE", "LANGUAGE": "fr:zh_CN:en"}, "zh"), ({"LANG": "zh_CN", "LANGUAGE": "en_GB:zh"}, "en"),
])  # fmt: skip
def test_a_new_learner_gets_the_systems_language(variables, language, lab, tmp_path):
    said = lab(**variables)
    folder = tmp_path / "minitape-lessons"
    assert find_lessons_language(folder) == language
    names = [p.name for p in list_notebook_files(find_lessons_folder(language))]
    titles = map_names_to_titles(find_lessons_folder(language))
    assert [p.name for p in list_notebook_files(folder)] == sorted(
        titles.get(name, name) for name in [MAP_FILE, *names]
    )
    assert (SWITCH in said) == (language == "zh")


def test_chinese_lessons_have_chinese_names_and_their_links_lead_to_them(lab, tmp_path):
    lab("mine", "--language", "zh")
    folder = tmp_path / "mine"
    numbered = [path.name for path in list_notebook_files(folder) if path.name != MAP_FILE and path.name[0] in "01"]
    assert len(numbered) == 14 and numbered[2] == "03_变量.ipynb"
    assert all(re.fullmatch(r"\d\d_[\u4e00-\u9fff][\w]*\.ipynb", name) for name in numbered), numbered
    linked = {
        (path.name, name)
        for path in list_notebook_files(folder)
        for cell in nbformat.read(path, as_version=4).cells
        for name in re.findall(r"\]\(([^:()]+\.ipynb)", cell.source)
    }
    assert {name for path, name in linked if path == MAP_FILE} >= set(numbered)
    assert [(path, name) for path, name in linked if not (folder / name).is_file()] == []


def test_a_chinese_folder_from_before_keeps_its_names(lab, tmp_path):
    folder = tmp_path / "mine"
    copy_missing_lessons(folder, language="zh")
    (folder / "03_variables.ipynb").unlink()
    lab("mine")
    names = {path.name for path in list_notebook_files(folder)}
    assert FIRST in names and "01_第一条磁带.ipynb" not in names and "03_变量.ipynb" in names
    assert "](03_变量.ipynb)" in (folder / MAP_FILE).read_text(encoding="utf-8")


def iter_texts(value):
    """Yield all texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from iter_texts(part)


@pytest.mark.parametrize("path", sorted(TEXTS_FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_what_a_kernel_says_links_to_no_lesson_because_a_learners_copy_may_have_another_name(path):
    said = list(iter_texts(json.loads(path.read_text(encoding="utf-8"))))
    in_chinese = load_translations(path.stem, "zh")
    told = [*said, *(in_chinese[text] for text in said if text in in_chinese)]
    assert len(told) > 1.5 * len({*said} & {*in_chinese}) > 10
    assert [text for text in told if re.search(r"\]\((?!glossary)[\w-]+\.ipynb", text)] == []


WHY = """
import minitape as tf
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(tape.explain(y, x).message)
"""


@pytest.mark.parametrize(("variables", "lessons", "chinese"), [
    ({}, None, False), ({"LANG": "zh_CN.UTF-8"}, None, True), ({"LANG": "zh_CN.UTF-8"}, "en", False),
    ({"LANG": "en_US.UTF-8"}, "zh", True), ({"LANG": "zh_CN.UTF-8", "MINITAPE_LANGUAGE": "en"}, "zh", False),
    ({"LANG": "en_US.UTF-8", "MINITAPE_LANGUAGE": "zh"}, None, True), ({"MINITAPE_LANGUAGE": "xx"}, None, False),
])  # fmt: skip
def test_explain_speaks_the_language_of_the_lessons_else_that_of_the_system(variables, lessons, chinese, lab, tmp_path):
    if lessons:
        lab(tmp_path, "--language", lessons)
    environment = {name: value for name, value in os.environ.items() if name not in LANGUAGE_VARIABLES}
    environment |= {"PYTHONIOENCODING": "utf-8"} | variables
    done = subprocess.run(
        [sys.executable, "-c", WHY], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert ("磁带" in done.stdout) == chinese and ("tape" in done.stdout) != chinese, done.stdout


@pytest.mark.long(sample=2)
@pytest.mark.parametrize(("arguments", "status", "told"), [
    (["--help"], 0, "在 JupyterLab 里打开课程。"), (["lab", "--help"], 0, "只复制课程，不启动 JupyterLab。"),
    (["check", "none.ipynb"], 2, "没有这个笔记本：none.ipynb"), (["lab", "--own", "none"], 2, "没有文件夹 none"),
    (["check", FIRST], 2, "查不了"), (["class", "--help"], 0, "（.minitape-progress.json）或者"),
])  # fmt: skip
def test_the_command_speaks_the_users_language(arguments, status, told, tmp_path):
    (tmp_path / FIRST).write_text("no notebook")
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "MINITAPE_LANGUAGE": "zh", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-m", "minitape", *arguments], cwd=tmp_path, env=environment, capture_output=True,
        encoding="utf-8", check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == status and told in said, said
    assert status or all(measure_width(line) <= 80 for line in said.splitlines() if "  [" not in line)
    assert not re.search(r"^ *[，。：；]|Usage|Options|Show this", said, re.MULTILINE)


def test_a_lesson_that_is_checked_or_saved_speaks_its_own_language(tmp_path, monkeypatch):
    environments = []
    for code in ("", "zh"):
        monkeypatch.setenv(LANGUAGE_VARIABLES[0], code)
        environments.append(prepare_kernel_environment(tmp_path))
    assert environments[0] == environments[1]


def test_no_sentence_of_the_command_is_said_without_say():
    speaks = {"echo", "ClickException", "UsageError", "CheckFinding"}
    for path in Path(new_lesson.__file__).parent.glob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        in_say = {
            id(node)
            for call in calls
            if get_function_name(call) in ("say", "failure", "misuse")
            for node in ast.walk(call)
        }
        texts = [
            node.value
            for call in calls
            if get_function_name(call) in speaks
            for node in ast.walk(call)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in in_say
        ]
        builds_sites = path.name in ("lite.py", "browser_python.py", "site.py", "site_folder.py", "lesson_pages.py")
        assert builds_sites or [text for text in texts if re.search(r"[a-z]{3,} [a-z]{2,}", text)] == [], path


def get_function_name(call):
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not remove the folder of a process")
def test_explain_answers_where_the_current_folder_is_gone(tmp_path):
    gone = f"import os; os.rmdir(os.getcwd())\n{WHY}"
    environment = {name: value for name, value in os.environ.items() if name not in LANGUAGE_VARIABLES}
    done = subprocess.run([sys.executable, "-c", gone], cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert b"tape" in done.stdout


def test_the_lab_speaks_the_language_of_its_lessons(lab):
    assert lab("--language", "zh").startswith("已复制") and "保持原样" in lab("--language", "zh")
    assert lab("other").startswith("number of files copied")


def test_the_language_that_is_asked_for_comes_first_and_a_folder_keeps_its_own(lab, tmp_path):
    assert SWITCH not in lab("--language", "en", LANG="zh_CN.UTF-8")
    assert SWITCH in lab(LANG="zh_CN.UTF-8")  # The English lessons stay.
    assert find_lessons_language(tmp_path / "minitape-lessons") == "en"
    lab("--language", "zh")  # The usual folder is in use, so this creates another one.
    lab("--language", "zh")
    assert [(path.name, find_lessons_language(path)) for path in sorted(tmp_path.iterdir())] == [
        ("minitape-lessons", "en"),
        ("minitape-lessons-zh", "zh"),
    ]
    (tmp_path / "minitape-lessons-zh" / "01_第一条磁带.ipynb").unlink()
    assert SWITCH in lab("minitape-lessons-zh")
    cells = nbformat.read(tmp_path / "minitape-lessons-zh" / "01_第一条磁带.ipynb", as_version=4).cells
    assert cells[0].source.startswith("# 1. 第一条磁带\n")


def test_two_languages_are_never_mixed_in_a_folder(lab, tmp_path):
    lab("mine", "--language", "zh")
    before = {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*.*")}
    assert (
        "mine already contains the lessons in 'zh', and languages cannot be mixed; choose a different folder for the "
        "lessons in 'en'" in lab("mine", "--language", "en", code=1)
    )
    assert {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*.*")} == before
    assert "there are no lessons in 'fr'; the available languages are: en, zh" in lab(
        "other", "--language", "fr", code=2
    )
    assert not (tmp_path / "other").exists()


def test_what_a_translation_says_stays_with_minitape(lab, tmp_path):
    lab("mine", "--language", "zh")
    assert not (tmp_path / "mine" / "texts").exists()
    (tmp_path / "mine" / FIRST).write_text("{}")
    assert "保持原样" in lab("mine", "--language", "zh")
    assert (tmp_path / "mine" / FIRST).read_text() == "{}" and find_lessons_language(tmp_path / "mine") == "zh"


@pytest.mark.parametrize("written", [1, 3])
def test_a_copy_that_breaks_off_goes_on_in_its_language(written, lab, tmp_path, monkeypatch):
    left = iter(range(written))
    with monkeypatch.context() as patch, pytest.raises(StopIteration):
        patch.setattr("minitape.cli.lesson_files.write_file", lambda *file: (next(left), write_file(*file)))
        copy_missing_lessons(tmp_path / "mine", language="zh")
    lab("mine", LANG="zh_CN.UTF-8" if written == 3 else "en_US.UTF-8")
    assert nbformat.read(tmp_path / "mine" / FIRST, as_version=4).cells[0].source.startswith("# 1. 第一条磁带")


def test_a_terminal_that_has_no_chinese_characters_stops_nothing(tmp_path):
    environment = {**os.environ, "LANGUAGE": "zh", "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [sys.executable, "-m", "minitape", "lab", "--copy-only"], cwd=tmp_path, env=environment, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == "" and "copied" in done.stdout
    for arguments, status, told in (
        (["--help"], 0, "Open the lessons in JupyterLab."),
        (["check", "none"], 2, "no such"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "minitape", *arguments], env=environment, capture_output=True, text=True
        )
        assert done.returncode == status and told in done.stdout + done.stderr, done.stderr


ON_A_TERMINAL = """
from minitape.course import check, predict, progress, reveal
check("01.1", 3.0)
check("01.1", "\\u2192")
progress("01")
predict("demo.p", "?", [1.0, 2.0]).commit("1.0")
reveal("demo.p", 2.0, "\\u03c0 is irrational.")
"""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_a_terminal_that_cannot_show_a_text_reads_it_in_english_or_with_escapes(encoding, tmp_path):
    variables = {"MINITAPE_LANGUAGE": "zh", "PYTHONIOENCODING": encoding, "MINITAPE_PROGRESS": f"{tmp_path}/a.json"}
    done = subprocess.run([sys.executable, "-c", ON_A_TERMINAL], env=os.environ | variables, capture_output=True)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(encoding)
    assert ("练习 01.1" if encoding == "gbk" else "Exercise 01.1: not yet.") in text
    assert ("→" in text and "π" in text) if encoding == "gbk" else ("\\u2192" in text and "\\u03c0" in text)


def test_a_lesson_of_the_courses_own_is_run_from_a_copy(tmp_path):
    paths = [find_lessons_folder(code) / FIRST for code in ("en", "zh")]
    places = _prepare_run_paths(paths, tmp_path)
    assert [place.read_bytes() for place in places] == [path.read_bytes() for path in paths]
    assert [find_lessons_language(place.parent) for place in places] == ["en", "zh"]
    assert (
        "--language applies only to the course's own lessons"
        in CliRunner().invoke(main, ["check", str(tmp_path), "--language", "zh"]).output
    )


@pytest.mark.parametrize(("code", "answer", "said"), [
    ("zh", {"第一步之后": 2.5, "第二步之后": 3.25}, "练习 03.1：正确。"),
    ("zh", {"after one step": 2.5, "after two steps": 3.25}, "练习 03.1：正确。"),
    ("zh", {"第一步之后": 7.0, "第二步之后": 1.0}, "7 是 1 - (-6)，走的是"),
    ("zh", [2.5, 3.25], "练习 03.1：正确。"),  # A plain list is accepted as well.
    ("zh", 2.5, "一个字典，键是 '第一步之后'、'第二步之后'"),
    ("en", {"after one step": 7.0, "after two steps": 1.0}, "7 is 1 - (-6), a step by the whole slope"),
])  # fmt: skip
def test_the_keys_of_an_answer_are_in_the_language_of_the_lesson(code, answer, said, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], code)
    assert said in count_try_and_build_feedback("03.1", answer)


def test_a_class_is_read_in_either_language(tmp_path, monkeypatch):
    monkeypatch.delenv("MINITAPE_PROGRESS", raising=False)
    for code in ("en", "zh"):
        folder = tmp_path / code
        copy_missing_lessons(folder, language=code)
        monkeypatch.chdir(folder)
        for answer in (8.0, 12.0):
            said = count_try_and_build_feedback("01.1", answer)
        assert said.startswith({"en": "Exercise 01.1: correct.", "zh": "练习 01.1：正确。"}[code])
        returned = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("stream", text=said + "\n")])]
        )
        (tmp_path / f"{code}-returned").mkdir()
        nbformat.write(returned, tmp_path / f"{code}-returned" / FIRST)
    first = compute_class_figures(read_hand_ins(find_hand_in_files_by_learner([tmp_path]))).by_exercise[0]
    assert (first.first_try_count, first.later_try_count, first.stuck_count, first.median_tries) == (
        0,
        4,
        0,
        2,
    )  # A notebook does not contain the number of tries.


def test_an_assignment_keeps_its_language(tmp_path):
    def kinds(path):
        return [cell.metadata.get("nbgrader") for cell in nbformat.read(path, as_version=4).cells]

    (ours, count), (theirs, again) = (export_lesson("01", tmp_path / code, code) for code in ("en", "zh"))
    assert count == again > 0 and kinds(ours) == kinds(theirs)
    assert [find_lessons_language(path.parent) for path in (ours, theirs)] == ["en", "zh"]


@pytest.mark.long
def test_a_new_language_needs_no_code(tmp_path, monkeypatch):
    """The first lesson is shortened. A translation needs only a folder, its texts and the texts of `check`."""
    english = tmp_path / "en"
    english.mkdir()
    short = json.loads((find_lessons_folder() / FIRST).read_text(encoding="utf-8"))
    short["cells"] = short["cells"][:2] + short["cells"][17:20]  # The title, the imports, and the first exercise.
    (english / FIRST).write_text(json.dumps(short), encoding="utf-8")
    monkeypatch.setattr(translation, "LESSON_FOLDERS", (tmp_path, tmp_path))

    def new_language():
        return tmp_path / "de", synchronize_translation(english, tmp_path / "de")

    folder, left = new_language()
    assert folder == tmp_path / "de" and find_lessons_language(folder) == "de"
    [several] = [line for line in left if line.startswith("01.po: ")]
    assert re.fullmatch(r"01.po: \d+ texts to translate", several)

    for domain, text, translated in (
        ("01", "# 1. The first tape", "# 1. Das erste Band"),
        ("check", "Exercise {name}: not answered yet.", "Aufgabe {name}: noch offen."),
    ):
        file = folder / "texts" / f"{domain}.po"
        entry = f'msgid "{text}"\nmsgstr "'
        known = file.read_text(encoding="utf-8")
        assert entry in known
        file.write_text(known.replace(entry, entry + translated), encoding="utf-8")
    _, left = new_language()
    assert several not in left
    with monkeypatch.context() as patch:
        patch.setenv(LANGUAGE_VARIABLES[0], "de")
        said = count_try_and_build_feedback("01.1")
    assert said.startswith("Aufgabe 01.1: noch offen.\nReplace the ...")
    lesson = json.loads((folder / FIRST).read_text(encoding="utf-8"))
    assert lesson["cells"][0]["source"][0] == "# 1. Das erste Band\n"

    short["cells"][0]["source"] = ["# 1. The first of the tapes"]
    (english / FIRST).write_text(json.dumps(short), encoding="utf-8")
    _, left = new_language()
    assert "01.po: was '# 1. The first tape', is '# 1. The first of the tapes'" in left
