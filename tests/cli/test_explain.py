"""`minitape explain` prints one line with the reason if it cannot run a program.

tests/bridges has programs that run.
"""

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
    (["no_such.py"], "the file no_such.py does not exist; to run a module, use -m"),
    (["-m", "no_such.module"], "Python found no module no_such.module that it can run"),
    (["-m", "sys"], "Python found no module sys that it can run"),
    (["--stpes", "3", "a.py"], "No such option '--stpes'. Did you mean '--steps'?"),
])  # fmt: skip
def test_what_cannot_be_run_is_named(arguments, why, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert run_refused_command(*arguments) == (2, f"Error: {why}")


def test_a_picture_that_was_named_instead_of_a_program_is_not_printed(tmp_path):
    picture = tmp_path / "tape.svg"
    picture.write_text(f"<svg>{'<path/>' * 100} ×</svg>", encoding="utf-8")
    result = CliRunner().invoke(main, ["explain", str(picture)])
    assert result.exit_code == 1
    assert "tape.svg" in result.output and "SyntaxError" in result.output
    assert "<path/>" not in result.output


def test_the_page_of_a_cause_is_printed_without_a_program():
    done = CliRunner().invoke(main, ["explain", "--cause", "detach"], env={"MINITAPE_LANGUAGE": "en"})
    assert done.exit_code == 0 and done.output.startswith("# detach: ")
    assert "loss.backward()" in done.output and "<!--" not in done.output and "](" not in done.output
    done = CliRunner().invoke(main, ["explain", "--cause", "detach"], env={"MINITAPE_LANGUAGE": "zh"})
    assert done.output.startswith("# detach：")


def test_an_error_message_leads_to_the_pages_of_its_causes():
    def ask(text):
        return CliRunner().invoke(main, ["explain", "--cause", text], env={"MINITAPE_LANGUAGE": "en"})

    message = "Trying to backward through the graph a second time"
    assert ask(message).output.startswith("# backward_twice: ")
    several = ask("element 0 of tensors does not require grad").output
    assert "\n  detach " in several and "\n  no_grad " in several
    unknown = ask("detatch")
    assert unknown.exit_code == 2 and "Did you mean detach?" in unknown.output and "zero_sum" not in unknown.output
    unknown = ask("the loss went up on a Tuesday")
    assert unknown.exit_code == 2 and "nor a known error message" in unknown.output and len(unknown.output) < 500
    everything = ask("all")
    assert everything.exit_code == 0 and "\n  detach " in everything.output and "\n  zero_sum " in everything.output
    assert ask("it").exit_code == 2
