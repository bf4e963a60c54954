"""The example in README.md prints what its comments say, and all named commands and files exist."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from minitape.cli import main

from .conftest import run_minitape


@pytest.fixture
def readme(repository):
    return (repository / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says(readme, tmp_path):
    example, in_torch = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert "bridge.record()" in in_torch  # tests/bridges runs this program.
    lines = example.splitlines()
    assert len(lines) == 10
    said = [line.split("# ", 1)[1] for line in lines if line.startswith("print")]
    script = tmp_path / "example.py"
    script.write_text(example)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == said
    assert {path.name for path in tmp_path.iterdir()} == {"example.py", "tape.svg", "tape.html"}


def test_it_has_the_commands_for_lessons_own_programs_and_tests(readme):
    """`.ci/run` uses the last one of these commands."""
    assert re.findall(r"^pip install.*$", readme, re.MULTILINE) == [
        'pip install -e ".[lab]" && minitape lab',
        "pip install .",
        'pip install -e ".[test]" && pytest',
    ]


def test_the_hosted_lessons_are_the_first_link_once_they_have_an_address(readme, repository):
    """The address is a setting in pyproject.toml."""
    site = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["minitape"]["site"]
    first = re.search(r"\]\(([^)]+)\)", readme.splitlines()[4])[1]
    assert first == (site or "notebooks/en/01_the_first_tape.ipynb")


def test_it_is_short_and_so_is_what_it_calls_small(readme, repository):
    assert len(readme.split()) <= 600
    files = re.findall(r"\[`[\w/.]+`\]\((minitape/engine/[\w/.]+)\)", readme)
    count = sum(len((repository / file).read_text(encoding="utf-8").splitlines()) for file in files)
    said = int(re.search(r"five\s+files\s+with\s+fewer\s+than\s+([\d,]+)\s+lines", readme)[1].replace(",", ""))
    assert len(files) == 5 and said / 2 < count < said, count


def test_the_table_lists_every_command(repository):
    text = (repository / "docs" / "elsewhere.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `minitape ([a-z-]+)", text, re.MULTILINE)
    assert sorted(listed) == sorted(main.commands)
    assert run_minitape("nosuch").returncode == 2


def test_help_says_in_whole_sentences_what_each_command_does():
    text = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    lines = text.partition("Commands:\n")[2].splitlines()
    assert len(lines) == len(main.commands)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines), text


@pytest.mark.parametrize("command", main.commands)
def test_the_help_of_a_command_names_all_its_options_and_says_what_each_does(command):
    done = CliRunner().invoke(main, [command, "--help"], terminal_width=100)
    assert done.exit_code == 0 and done.output.startswith(f"Usage: main {command}"), done.output
    shown = " ".join(done.output.partition("Options:\n")[2].split())
    for option in main.commands[command].params:
        if isinstance(option, click.Option):
            assert option.opts[-1] in shown and option.help and option.help.endswith((".", ")"))
            assert option.help.partition(" ")[0] in shown
    about = done.output.partition("Options:")[0].split("\n\n")[1]
    assert about.startswith("  ") and about.rstrip().endswith(".")


def test_every_dependency_has_its_reason(repository):
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    texts = [
        *project["dependencies"],
        *(text for part in ("lab", "test", "docs", "class", "lite") for text in extras[part]),
    ]
    for requirement in texts:
        if requirement == "minitape[lab]":
            continue
        name = re.match(r"[\w.-]+", requirement).group()
        assert re.search(rf"\b{re.escape(name)}\b", text), f"CONTRIBUTING.md does not say why {name} is needed"
        assert "<" in requirement, f"{requirement} has no upper bound"


BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
BOTH = (
    "README",
    *(f"docs/tapeview{part}" for part in ("", "_reading", "_explore", "_large", "_saving", "_keys")),
    *(f"docs/explain{part}" for part in ("", "_model", "_program", "_loop", "_answers")),
)


def list_programs(text):
    """Return the programs of a page, without comments and without output in the reader's language."""
    return [re.sub(" +# .*", "", block) for block in BLOCK.findall(text) if not block.startswith("```text")]


@pytest.mark.parametrize("page", BOTH)
def test_a_page_in_chinese_says_what_the_english_one_says(page, repository):
    """Both pages have the same programs, pictures, links, numbers and code, and link to each other.

    Links may lead to different sections, because a section is named by its title.
    """
    english, chinese = ((repository / f"{page}{end}").read_text(encoding="utf-8") for end in (".md", ".zh.md"))
    name = page.rpartition("/")[2]
    assert (english.splitlines()[2], chinese.splitlines()[2]) == (f"[中文]({name}.zh.md)", f"[English]({name}.md)")
    assert list_programs(chinese.replace(" --language zh\n", "\n")) == list_programs(english)

    def parts(text, pattern):
        return set(re.findall(pattern, BLOCK.sub("", text)))

    links = [
        {link.partition("#")[0].replace("/zh/", "/en/").replace(".zh.", ".") for link in parts(text, r"\]\((.*?)\)")}
        for text in (english, chinese)
    ]
    assert links[0] == links[1]
    # Chinese pages do not group digits: 1700, not 1,700.
    numbers = [{number.replace(",", "") for number in parts(text, r"\d[\d,.]*\d|\d")} for text in (english, chinese)]
    assert numbers[0] <= numbers[1]
    # Text with spaces is a label in the picture.
    code = {span for span in parts(english, r"`[^`\n]+`") if not re.search("[a-z]{2} ", span)}
    assert code <= parts(chinese, r"`[^`\n]+`")


PAGES = (
    *(f"{page}{end}" for page in BOTH for end in (".md", ".zh.md")), "CONTRIBUTING.md", "docs/engine.md",
    "docs/functions.md", "docs/bridges.md", "docs/speed.md", "docs/elsewhere.md", "deploy/TEACHERS.md",
    "deploy/jupyterhub/TEACHERS.md", "deploy/TEACHERS.zh.md", "deploy/jupyterhub/TEACHERS.zh.md",
)  # fmt: skip
MOST_WORDS = 1200


@pytest.mark.parametrize("page", BOTH[1:])
def test_a_page_with_one_job_is_short(page, repository):
    assert len((repository / f"{page}.md").read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES)
def test_the_links_lead_somewhere(page, repository):
    text = re.sub(r"```.*?```", "", (repository / page).read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((repository / page).parent / target).exists(), target


def test_the_files_that_contributing_names_are_there(repository):
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:minitape|tests|widgets|benchmarks|docs|deploy)/[\w/.-]*)`", text):
        known = next((repository / name).parent.glob(Path(name).name.replace("NN_topic", "*").replace("NN", "*")), None)
        assert known or name.startswith("minitape/speed"), name  # The folder speed may be deleted.


def test_the_version_is_said_without_numpy():
    program = "import sys, minitape_command\nminitape_command.main()\nsys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, "--version"], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, run_minitape("--version").stdout)
