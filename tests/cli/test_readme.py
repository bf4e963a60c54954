"""What README.md and CONTRIBUTING.md promise: the example prints what it says; commands, files and modules are those that exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from minitape.cli import main

from .conftest import run


@pytest.fixture
def readme(repository):
    return (repository / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says(readme, tmp_path):
    example, in_torch = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert "bridge.record()" in in_torch  # it is run in tests/bridges
    lines = example.splitlines()
    assert 8 <= len(lines) <= 12
    said = [line.split("# ", 1)[1] for line in lines if line.startswith("print")]
    script = tmp_path / "example.py"
    script.write_text(example)
    done = subprocess.run([sys.executable, script], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == said


def test_there_are_exactly_two_install_commands(readme):
    assert re.findall(r"^pip install.*$", readme, re.MULTILINE) == [
        "pip install -e . && minitape lab",
        'pip install -e ".[test]" && pytest',
    ]


def test_the_table_lists_every_command(readme):
    listed = re.findall(r"^\| `minitape ([a-z-]+)", readme, re.MULTILINE)
    assert sorted(listed) == sorted(main.commands)
    assert run("nosuch").returncode == 2


def test_help_says_in_whole_sentences_what_each_command_does():
    text = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    lines = text.partition("Commands:\n")[2].splitlines()
    assert len(lines) == len(main.commands)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines), text


def test_every_dependency_has_its_reason(repository):
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]["test"]
    for requirement in (*project["dependencies"], *extras):
        name = re.match(r"[\w.-]+", requirement).group()
        assert re.search(rf"\b{re.escape(name)}\b", text), f"CONTRIBUTING.md does not say why {name} is needed"
        assert "<" in requirement, f"{requirement} has no upper bound"


PAGES = ("README.md", "CONTRIBUTING.md", "docs/engine.md", "docs/explain.md", "docs/tapeview.md", "docs/bridges.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_links_lead_somewhere(page, repository):
    text = (repository / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((repository / page).parent / target).exists(), target


def test_the_files_that_contributing_names_are_there(repository):
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:minitape|tests|widgets|benchmarks|docs|deploy)/[\w/.-]*)`", text):
        known = next((repository / name).parent.glob(Path(name).name.replace("NN", "*")), None)
        assert known or name.startswith("minitape/speed"), name  # that folder may be deleted
