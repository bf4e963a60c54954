"""Record the programs of lesson 14 in their frameworks.

``python -m tests.course.record_programs torch`` rewrites the recording that the lesson shows. PyTorch must be
installed.
"""

import importlib
import json
import re
import sys
from typing import Any

from minitape.bridges.framework_import import import_framework
from minitape.common.atomic_write import write_file
from minitape.course.framework_programs import FOLDER, FRAMEWORK_NAMES, JsonObject, read_and_register_program_source
from minitape.explain.explanation import Explanation

LINE_NUMBER = re.compile(r"  # line \d+`")
"""The comment that numbers a line of a program. A fix that quotes the line leaves the comment out."""


def record_program(name: str) -> JsonObject:
    """Run a program under its framework's bridge.

    Args:
        name: The program's name, such as "torch".

    Returns:
        The framework's version, the explanation, and the snapshot of the recording.

    Raises:
        ImportError: If the framework is not installed or is too old.
    """
    module = name.partition("_")[0]
    framework = import_framework(module, FRAMEWORK_NAMES[name], (0, 0))
    importlib.import_module(f"minitape.bridges.{module}")
    text, file_name = read_and_register_program_source(name)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file_name, "exec"), namespace)
    snapshot = eval("recording.snapshot()", namespace)  # The snapshot finds the tensors' names in this namespace.
    why = convert_explanation_to_json(namespace["why"]) | {
        "others": [convert_explanation_to_json(other) for other in namespace["why"].others]
    }
    return {"version": framework.__version__.partition("+")[0], "why": why, "snapshot": snapshot | {"record": name}}


def convert_explanation_to_json(explanation: Explanation) -> JsonObject:
    """Return the parts of an explanation that the lesson uses, excluding other causes."""
    parts = {
        "cause": explanation.cause,
        "message": explanation.message,
        "fix": LINE_NUMBER.sub("`", explanation.fix),
        "filename": explanation.filename,
        "line": explanation.line,
    }
    return parts | {"rows": explanation._rows, "others": []}


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        kept = json.dumps(record_program(asked), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        write_file(FOLDER / f"{asked}.json", f"{LINE_NUMBER.sub('`', kept)}\n")
