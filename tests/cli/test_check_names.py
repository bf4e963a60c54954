"""`minitape check` accepts notebooks of any name and size."""

from dataclasses import replace
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from minitape.cli import check_notebooks, nbval_recorder
from minitape.cli.check_notebooks import check_notebook
from minitape.cli.notebook_rules import CheckFinding


def write_saved_notebook(path):
    path.parent.mkdir(exist_ok=True)
    output = new_output("stream", text="1\n")
    nbformat.write(new_notebook(cells=[new_code_cell("print(1)", execution_count=1, outputs=[output])]), path)
    return path


@pytest.mark.long(sample=6)
@pytest.mark.parametrize(
    "name", ["-fol[d]er/*x::y?.ipynb", "a [b].ipynb", "fol[d]er/x::y.ipynb", "*.ipynb", "-x.ipynb", "what?.ipynb"]
)
def test_every_character_may_stand_in_a_name(tmp_path, name):
    write_saved_notebook(tmp_path / "other.ipynb")
    result = check_notebook(write_saved_notebook(tmp_path / name), ("blank",))
    assert result.failure_reason is None and result.findings == []
    assert result.runs == {(0, "blank")}


def test_places_are_counted_once(monkeypatch):
    class Cell(SimpleNamespace):
        pass

    looks = []

    class Kind:
        cell_type = property(lambda self: looks.append(self) or "code")

    monkeypatch.setattr(nbval_recorder, "IPyNbCell", Cell)
    cells = [kind for _ in range(50) for kind in (Kind(), SimpleNamespace(cell_type="markdown"))]
    parent = SimpleNamespace(nb=SimpleNamespace(cells=cells))
    items = [Cell(parent=parent, cell_num=number, cell={}) for number in range(50)]
    nbval_recorder.pytest_collection_modifyitems(items)
    assert [item.place for item in items] == list(range(0, 100, 2))
    assert len(looks) == 50


def test_findings_are_compared_within_their_cell(monkeypatch):
    """A finding is copied for a comparison, and the findings of other cells are not copied."""
    copied = []
    monkeypatch.setattr(
        check_notebooks, "replace", lambda finding, **changes: copied.append(finding) or replace(finding, **changes)
    )
    notebook = new_notebook(cells=[new_code_cell("1") for _ in range(60)])
    result = check_notebooks.CheckResult("long", [CheckFinding("not-run", place, "never run") for place in range(60)])
    record = {"source": "1", "seconds": 0.0, "skipped": False, "outputs": [], "problem": "it failed"}
    for place in range(10):
        check_notebooks._add_run_findings({**record, "cell": place}, notebook, "blank", result)
    assert len(result.findings) == 70
    assert [finding.cell for finding in copied] == list(range(10))
