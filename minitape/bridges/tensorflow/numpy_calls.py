"""NumPy reads the memory of TensorFlow's tensors unnoticed: the text of the program says where."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...explain.reasons import text
from ...recording.sites import Site

FOREIGN = ("numpy", "scipy", "sklearn", "math")  # packages that work on arrays of NumPy


def numpy_call(site: Site) -> Site | None:
    """The line on which a function of NumPy's, or of a package that works on its arrays, is given what a line
    computed.
    """
    start = text.at(site)
    if start is None:
        return None
    program = text.program(start.file)
    modules = {name for name, module in program.imported.items() if module.partition(".")[0] in FOREIGN}
    fits = start.call_of("fit", "train_on_batch") is not None
    predicted = dict(predictions(program, start)) if fits else {}
    for at in [*predicted_statements(program, predicted), *text.flow(start, [])] if modules else ():
        for call in at.calls:
            foreign = text.root_name(call.func) in modules or text.last_name(call.func) == "img_to_array"
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            name = predicted.get(next(iter(at.functions), None))
            if foreign and (text.enters(start, at, given) or any(text.unparse(part) == name for part in given)):
                return at.file, call.lineno
    return None


def predicted_statements(program: text.ProgramText, predicted: dict) -> list[text.Statement]:
    """The statements of the losses that Keras was given."""
    return [s for s in program.statements if s.functions and s.functions[0] in predicted]


def predictions(program: text.ProgramText, near: text.Statement) -> Iterator[tuple[text.Def | None, str]]:
    """The functions that Keras is given as a loss, near a statement if some are there, and what they call a prediction:
    their last parameter without a default.
    """
    compiles = [s for s in program.statements if s.call_of("compile")]
    here = [s for s in compiles if s.functions == near.functions] or compiles
    for call in (call for s in here for call in s.calls if text.last_name(call.func) == "compile"):
        for loss in (*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "loss")):
            name = text.last_name(getattr(loss, "func", loss))
            for at in program.statements:
                f = at.node
                if not isinstance(f, ast.FunctionDef) or len(f.args.args) <= len(f.args.defaults):
                    continue
                if f.name == name or (f.name == "call" and at.in_class == name):
                    yield f, f.args.args[-1 - len(f.args.defaults)].arg
