"""`tape.explain` on training scripts with a break and much that only looks: logs, plots, checkpoints."""

import contextlib
import io
import linecache
from typing import Any

import pytest

import minitape as tf

from .scripts import BREAK_PIECES, Script, build_script

SCRIPTS = [build_script(number) for number in range(4 * len(BREAK_PIECES))]


@pytest.mark.parametrize("one", SCRIPTS, ids=lambda one: one.name)
def test_the_break_is_blamed(one: Script) -> None:
    filename = f"script_{one.name}.py"
    linecache.cache[filename] = (len(one.code), None, one.code.splitlines(True), filename)
    space: dict[str, Any] = {"__name__": "user_code", "tf": tf}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(one.code, filename, "exec", dont_inherit=True), space)
        none = space["tape"].gradient(space["target"], space["source"]) is None
        why = space["tape"].explain(space["target"], space["source"])
    assert none == (one.causes != ["connected"])
    assert why.cause in one.causes, f"{why}\n{one.code}"
    if one.blamed_lines and why.cause != "independent":
        assert why.line in one.blamed_lines, f"{why}\n{one.code}"
    assert why.cause in ("connected", "independent") or why.line is not None
