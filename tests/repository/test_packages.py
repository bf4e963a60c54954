"""The picture of the packages and the descriptions of their files are true."""

import ast
import importlib.util
import json
import re
from pathlib import Path

import pytest

import minitape as tf

PACKAGE = Path(tf.__file__).parent
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_of_each_of_its_files_what_it_is_for(name):
    folder = PACKAGE / name
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in folder.glob("[!_]*.py") if not path.stem.startswith("lesson_")}
    assert [module for module in sorted(modules) if f"``{module}``" not in text] == []


def test_the_picture_shows_each_package(repository):
    script = repository / "docs" / "packages.py"
    specification = importlib.util.spec_from_file_location("packages", script)
    drawing = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(drawing)
    names = re.findall(r'class="name"[^>]*>([^<]+)/<', drawing.draw_packages())
    assert sorted(names) == sorted([*PACKAGES, "minitape_widgets"])


PAGES = tuple(
    """
    README.md CONTRIBUTING.md docs/engine.md docs/engine_gradient.md docs/engine_calls.md docs/engine_more.md
    docs/engine_speed.md docs/functions.md docs/explain.md docs/explain_inside.md docs/add_a_cause.md
    docs/vocabulary.md docs/snapshot.md docs/tapeview.md docs/bridges.md docs/write_a_bridge.md docs/lessons.md
    notebooks/en/12_build_your_own_tape.ipynb
""".split()
)


def read_page_text(path):
    text = path.read_text(encoding="utf-8")
    return "".join("".join(cell["source"]) for cell in json.loads(text)["cells"]) if path.suffix == ".ipynb" else text


@pytest.mark.parametrize("page", PAGES)
def test_the_files_that_a_page_names_are_there(page, repository):
    named = set(
        re.findall(r"`((?:minitape|widgets|tests|docs|benchmarks|deploy)/[\w./-]*)`", read_page_text(repository / page))
    )
    assert sorted(name for name in named if "NN" not in name and not (repository / name).exists()) == []


def iter_walk_steps():
    """Return the steps of the walk in CONTRIBUTING.md, with the files that each step names and the lines that it
    quotes."""
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = text.partition("A walk through the packages")[2].partition("\n## ")[0]
    for step in re.findall(r"^\d\. (.*(?:\n   .*)*)", walk, re.MULTILINE):
        spans = re.findall(r"`([^`]+)`", " ".join(step.split()))
        files = [span for span in spans if span.endswith(".py")]
        yield (
            files,
            [
                span
                for span in spans
                if re.search(r"[=|:(] ?", span) and span not in files and not span.startswith("tape.")
            ],
        )


@pytest.mark.parametrize(("files", "quotes"), [step for step in iter_walk_steps() if step[0]])
def test_the_walk_quotes_lines_that_are_there(files, quotes, repository):
    lines = " ".join(" ".join((repository / file).read_text(encoding="utf-8").split()) for file in files)
    for quote in quotes:
        for part in quote.split("..."):  # The dots stand for omitted lines.
            assert " ".join(part.split()).strip('" ') in lines, quote


def test_the_walk_is_found():
    assert len(list(iter_walk_steps())) == 6 and sum(len(quotes) for _, quotes in iter_walk_steps()) >= 6
