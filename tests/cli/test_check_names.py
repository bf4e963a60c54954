"""`minitape check` takes notebooks of any name and size."""

from __future__ import annotations

import time
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from minitape.cli import check, recorder
from minitape.cli.check import check_notebook
from minitape.cli.rules import CheckFinding


def saved(path):
    path.parent.mkdir(exist_ok=True)
    output = new_output("stream", text="1\n")
    nbformat.write(new_notebook(cells=[new_code_cell("print(1)", execution_count=1, outputs=[output])]), path)
    return path


@pytest.mark.long(sample=6)
@pytest.mark.parametrize(
    "name", ["-fol[d]er/*x::y?.ipynb", "a [b].ipynb", "fol[d]er/x::y.ipynb", "*.ipynb", "-x.ipynb", "what?.ipynb"]
)
def test_every_character_may_stand_in_a_name(tmp_path, name):
    saved(tmp_path / "other.ipynb")
    result = check_notebook(saved(tmp_path / name), ("blank",))
    assert result.broken is None and result.findings == []
    assert [run.first_line for run in result.runs] == ["print(1)"]


def test_places_are_counted_once(monkeypatch):
    class Cell(SimpleNamespace):
        pass

    monkeypatch.setattr(recorder, "IPyNbCell", Cell)
    cells = [SimpleNamespace(cell_type=kind) for kind in ("code", "markdown") * 5_000]
    parent = SimpleNamespace(nb=SimpleNamespace(cells=cells))
    items = [Cell(parent=parent, cell_num=number, cell={}) for number in range(5_000)]
    begin = time.perf_counter()
    recorder.pytest_collection_modifyitems(items)
    assert [item.place for item in items] == list(range(0, 10_000, 2))
    assert time.perf_counter() - begin < 1.0


def test_findings_are_compared_within_their_cell(tmp_path):
    cells = [new_code_cell("1") for _ in range(6_000)]
    notebook = new_notebook(cells=cells)
    result = check.Result("long", [CheckFinding("not-run", place, "never run") for place in range(len(cells))])
    record = {"source": "1", "seconds": 0.0, "skipped": False, "outputs": [], "problem": "it failed"}
    begin = time.perf_counter()
    for place in range(1_000):
        check._take_in({**record, "cell": place}, notebook, "blank", result, tmp_path)
    assert len(result.findings) == 7_000
    assert time.perf_counter() - begin < 2.0
