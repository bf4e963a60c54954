"""The programs of lesson 14 in their frameworks: ``python -m tests.course.record_programs torch`` writes anew what the
lesson shows of one, where PyTorch is installed.
"""

import importlib
import json
import sys
from typing import Any

from minitape.bridges.require import framework_module
from minitape.common.write_beside import write
from minitape.course.programs import CALLED, FOLDER, Data, lines_known
from minitape.explain.words import Explanation


def run(name: str) -> Data:
    """Runs a program: the framework's version, what `explain` said, and the snapshot of the recording.

    Raises ImportError where the framework is not installed, or too old.
    """
    module = name.partition("_")[0]
    framework = framework_module(module, CALLED[name], (0, 0))
    importlib.import_module(f"minitape.bridges.{module}")
    text, file = lines_known(name)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), names)
    snapshot = eval("recording.snapshot()", names)  # there, where the names of the tensors are
    why = _said(names["why"]) | {"others": [_said(other) for other in names["why"].others]}
    return {"version": framework.__version__.partition("+")[0], "why": why, "snapshot": snapshot | {"record": name}}


def _said(why: Explanation) -> Data:
    parts = {"cause": why.cause, "message": why.message, "fix": why.fix, "filename": why.filename, "line": why.line}
    return parts | {"rows": why._rows, "others": []}


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        kept = json.dumps(run(asked), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        write(FOLDER / f"{asked}.json", f"{kept}\n")
