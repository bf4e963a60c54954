"""`minitape explain` where it cannot run a program: one line that says why. tests/bridges has programs that run."""

import sys

import pytest
from click.testing import CliRunner

from minitape.cli import main


def run_refused_command(*arguments):
    done = CliRunner().invoke(main, ["explain", *map(str, arguments)])
    assert isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.splitlines()[-1]


def test_a_framework_that_is_not_installed_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "minitape.bridges.torch", raising=False)
    program = tmp_path / "train.py"
    program.write_text("import torch")
    assert run_refused_command(program) == (
        1,
        "Error: minitape.bridges.torch needs PyTorch: pip install 'minitape[torch]'.",
    )


@pytest.mark.parametrize(("arguments", "why"), [
    (["no_such.py"], "there is no file no_such.py; a module is run with -m"),
    (["-m", "no_such.module"], "there is no module no_such.module to run"),
    (["-m", "sys"], "there is no module sys to run"),
    (["--stpes", "3", "a.py"], "No such option '--stpes'. Did you mean '--steps'?"),
])  # fmt: skip
def test_what_cannot_be_run_is_named(arguments, why, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert run_refused_command(*arguments) == (2, f"Error: {why}")
