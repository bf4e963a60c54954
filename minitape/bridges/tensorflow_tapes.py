"""NumPy reads the memory of TensorFlow's tensors unnoticed: the text of the program says where."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..explain.flow import Flow
from ..explain.source import Source, statement_at
from ..explain.statement import Def, last_name, unparse
from ..recording.sites import Site


def numpy_call(site: Site) -> Site | None:
    """The line on which a function of NumPy's, or of a package that works on its arrays, is given what a line
    computed.
    """
    start = statement_at(site)
    if start is None:
        return None
    source = start.source
    modules = source.aliases("numpy", "scipy", "sklearn", "math")
    flow, predicted = (
        Flow(start, None, [source]),
        dict(predictions(source, start.function)) if start.calls("fit", "train_on_batch") else {},
    )
    for statement in source.statements:
        for call in (node for node in statement.walk() if isinstance(node, ast.Call)):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            foreign = unparse(call.func).partition(".")[0] in modules or last_name(call.func) == "img_to_array"
            if foreign and any(
                flow.enters(statement, part) or unparse(part) == predicted.get(statement.function) for part in given
            ):
                return statement.filename, call.lineno
    return None


def predictions(source: Source, near: Def | None = None) -> Iterator[tuple[Def | None, str]]:
    """The functions that Keras is given as a loss, ``near`` by if some are there, and what they call a prediction:
    their last parameter without a default.
    """
    compiles = [s for s in source.statements if s.calls("compile")]
    for call in (
        node
        for s in [s for s in compiles if s.function is near] or compiles
        for node in s.walk()
        if isinstance(node, ast.Call)
    ):
        for loss in (*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "loss")):
            name = last_name(getattr(loss, "func", loss))
            found = (
                f
                for f in (*source.functions.get(name, ()), *source.functions.get("call", ()))
                if source.methods.get(id(f), name) == name
            )
            yield from (
                (f, f.args.args[-1 - len(f.args.defaults)].arg)
                for f in found
                if len(f.args.args) > len(f.args.defaults)
            )
