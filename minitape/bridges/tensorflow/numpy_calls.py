"""NumPy reads the memory of TensorFlow's tensors unnoticed: the text of the program says where."""

from __future__ import annotations

import ast

from ...explain.reasons import text
from ...recording.sites import Site

FOREIGN = ("numpy", "scipy", "sklearn", "math")  # packages that work on arrays of NumPy


def numpy_call(site: Site) -> Site | None:
    """The line on which a function of NumPy's, or of a package that works on its arrays, is given what a line
    computed; of a call of ``fit``, what it gives to a loss.
    """
    start = text.at(site)
    program = text.program(start.file)
    modules = {name for name, module in program.imported.items() if module.partition(".")[0] in FOREIGN}
    losses = predictions(program, start) if start.call_of("fit", "train_on_batch") else {}
    of_losses = [s for s in program.statements if s.functions and s.functions[0] in losses]
    for at in [*of_losses, *text.flow(start, [])] if modules else ():
        for call in at.calls:
            foreign = text.root_name(call.func) in modules or text.last_name(call.func) == "img_to_array"
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            name = losses.get(next(iter(at.functions), None))
            if foreign and (text.enters(start, at, given) or any(text.unparse(part) == name for part in given)):
                return at.file, call.lineno
    return None


def predictions(program: text.ProgramText, near: text.Statement) -> dict[text.Def | None, str]:
    """The functions that Keras is given as a loss, near a statement if some are there, and what they call a
    prediction: their last parameter without a default.
    """
    compiles = [(s, call) for s in program.statements if (call := s.call_of("compile")) is not None]
    here = [call for s, call in compiles if s.functions == near.functions] or [call for _, call in compiles]
    given = [part for call in here for part in (*call.args[1:2], *(k.value for k in call.keywords if k.arg == "loss"))]
    names = {text.last_name(getattr(part, "func", part)) for part in given}
    losses = [
        s.node
        for s in program.statements
        if isinstance(s.node, ast.FunctionDef) and (s.in_class if s.node.name == "call" else s.node.name) in names
    ]
    return {f: f.args.args[-1 - len(f.args.defaults)].arg for f in losses if len(f.args.args) > len(f.args.defaults)}
