"""The snapshot: what a picture reads of a recording. Pictures read this and nothing else of the engine.

``snapshot(tape)`` returns a JSON-able dictionary, version 1::

    {"version": 1,
     "record": "r1",              identity of the recording; another one means: forget everything known
     "first": 0,                  number of the first row in "rows"; more than 0 in a delta (``since``)
     "total": 9,                  number of rows of the recording, which may be more than "rows" has
     "rows": [ROW, ...],          in order, rows[i]["row"] == first + i
     "changed": [ROW-PART, ...],  fields of earlier rows that have changed since they were sent (live deltas only)
     "events": [{"kind": "assign", "name": "w:0", "from": 1, "to": 7, "line": 5},
                {"kind": "numpy", "row": 4, "line": 6}, ...],    a value that left the framework
     "tapes": [{"id": 0, "name": "tape", "persistent": false, "state": "recording|closed|used|released",
                "spans": [[0, 9]],                 row ranges during which it recorded
                "bytes": 1234}],                   what it still holds
     "sources_text": {"<file>": "text"},           code of the cells and files that the rows come from;
                                  not in a live delta without new ones
     "sweep": null | SWEEP,       not in a live delta in which it is the same as before
     "results": [RESULT, ...],    one for each gradient call, the last ones; travels with the sweep
     "alarms": [ALARM, ...],      what is wrong, the gravest first; the same
     "torn": [TORN, ...],         where a gradient ends; the same
     "differs": {"row": 3, "text": "...", "rows": [3, 5]},    only in a comparison: the first row that is another one in
                                  the other tape, and those that have other values
     "insides": [{"row": 3, "name": "f", "snapshot": {...}}],   of calls of tf.function: the rows inside, as a
                                  snapshot of their own, with the sweep through them; not in a live delta}

A ROW::

    {"row": 3, "op": "multiply",         primitive; "leaf" for sources, variables and constants
     "label": "×", "formula": "x * y",   short label, forward formula ("" where there is none)
     "rule": ["g * y", "g * x"],         derivative rule of each input ("" or missing: no formula)
     "said": ["x × y", "g × y", "g × x"],    formula and rules as a book writes them; missing: none
     "kind": "source|variable|constant|operation",
     "name": "w:0" | null,               a variable's name, or the Python name of a tensor where it is known
     "version": 0,                       which of a variable's states in this recording, from 0 on
     "inputs": [1, 2], "output": 0, "call": 3,     which output of which call (its first row)
     "dtype": "float32", "shape": [2, 3], "value": VALUE | null, "released": false,
     "tangent": VALUE,                   its derivative in forward mode's direction; missing: none, or 0
     "line": 3, "file": "<file>",
     "site": 12,                         which of the line's operations it is
     "literal": true,                    a Python number: the program may have it at several places; missing: no
     "status": "recorded|ghost",         a ghost ran while a tape was open, but is on no tape
     "watched": null | "automatic" | "explicit" | "requires_grad" (PyTorch) | "argument" (JAX),
     "cut": null | "stop_gradient" | "nondifferentiable" | "no_gradient_registered" | "integer" | "paused",
     "tapes": [0],                       the tapes that recorded it
     "by": null | 0,                     the tape whose gradient() wrote this row on an outer tape
     "below": 1,                         then: the row below which it is drawn; missing: not known
     "scope": ["block", "dense"]}        tf.name_scope

A VALUE is ``{"text": "6.0", "data": 6.0}`` (text as NumPy prints it; data as nested lists, with "nan", "inf" and "-inf"
as strings) or, above 64 elements, ``{"text", "stats": {min, max, mean, std, zeros, nans}, "thumb": at most 32 x 32,
"cell": how wide an element of the thumb is for one of height 1}``. A small image has "data" and "thumb".

A SWEEP is the backward pass of the tape's last ``gradient`` call, or from ``target`` to ``sources``::

    {"target": [7], "sources": [0, 1],
     "steps": [{"row": 7, "adjoint": VALUE,                    the complete adjoint that comes in
                "others": [{"row": 8, "adjoint": VALUE}],      those of the call's other outputs, where there are some
                "edges": [{"input": 5, "port": 0,              to which input, and the how many-th it is
                           "local": VALUE | null,              local derivative where it is elementwise
                           "differs": true,                    another framework sent something else than the rule says
                           "product": VALUE,                   contribution, in the input's shape
                           "sum": VALUE}]}],                   the input's adjoint after it
     "gradients": [VALUE | null, ...],                         one for each row in "sources"
     "rest": 0}                                                rows for which no steps were made: the sweep is long

A RESULT is what a ``gradient`` call gave::

    {"target": [{"name": "z" | null, "row": 5}],
     "sources": [{"name": "v" | null, "rows": [0, 4],          the states that something has arrived at
                  "parts": [VALUE, VALUE],                     what has arrived at each
                  "gradient": VALUE | null,                    their sum, which the call returned
                  "at": 4,                                     the last row that stands for it, -1 for none
                  "reason": null | "...",                      why it is None or zero,
                  "why": null | {"file": "...", "line": 6},    because of which line
                  "blame": null | 3,                           and of which row
                  "now": null | VALUE,                         what the variable holds now, after the optimizer's step,
                  "assigned": 1}],                     and how often it was assigned after its last state on the tape
     "more": 0,                                                sources that are not listed
     "known": true,                                            false where the sweep is too long, or cannot be repeated
     "shown": true,                                            the call whose sweep is "sweep"
     "call": "gradient",                                       which call it was: jacobian, backward, grad, ...
     "element": [0],                                           of a Jacobian's target the one whose sweep is shown
     "sweep": SWEEP}                                           of an earlier call, where it is not too long

An ALARM is ``{"kind": "gradient", "title": "The gradient is NaN from row 4, line 9", "text": "..." (in the words of
explain), "row": 4, "line": 9, "back": true}``; ``back`` says that the step of the sweep shows it. Kinds: gradient,
value, none, zero, state, broadcast.

A TORN is ``{"kind": "left", "from": 2, "to": 5, "line": 6, "text": "numpy()"}``: the value of row 2 left the framework
there and came back as row 5 (-1 where the program's text does not tell as which). Of the kinds "cut" and "zero" it is
the edge from row 2 to row 5, over which no gradient goes back, or zeros where something else had arrived.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .diagnosis import wrong_with
from .reading import followed, reader_of, spaces
from .results import results_of
from .stepping import stepper_of

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Structure
    from .fields import Snapshot
    from .reading import Reader
    from .rows import PictureRow


def snapshot(
    tape: GradientTape, target: Structure = None, sources: Structure = None, *, since: int = 0, most: int = 100_000
) -> Snapshot:
    """What a picture shows of ``tape``: its rows, and the backward sweep from ``target`` to ``sources``.

    Without a target the sweep is that of the tape's last ``gradient`` call, None when there was none. ``since`` leaves
    out the rows before that number; after ``most`` rows it ends, and ``snapshot["total"]`` says how many there are. The
    tape is not used up. Raises TypeError when ``tape`` is no GradientTape.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> s = tf.snapshot(tape, y, x)
    >>> [(row["row"], row["label"], row["inputs"], row["value"]["text"]) for row in s["rows"]]
    [(0, 'x', [], '3.0'), (1, '×', [0, 0], '9.0')]
    >>> [edge["sum"]["text"] for edge in s["sweep"]["steps"][0]["edges"]]
    ['3.0', '6.0']
    """
    tape = followed(tape)
    reader = reader_of(tape, spaces(sys._getframe(1)), "snapshot() takes")
    reader.recompute()
    rows = reader.read(since + most)
    found = snapshot_of(tape, target, sources, reader, rows, since)
    return found | {"insides": reader.insides(target, sources)}


def snapshot_of(
    tape: GradientTape, target: Structure, sources: Structure, reader: Reader, rows: list[PictureRow], since: int = 0
) -> Snapshot:
    """The snapshot of rows that were read: with their names, the sweep, and what is wrong where all rows are there."""
    reader.name_rows(rows)
    if len(rows) == reader.count:
        reader.know_the_end(rows)
    found = reader.frame_of([row.full() for row in rows[since:]], since)
    stepper = stepper_of(tape, target, sources, reader.held)
    found["sweep"] = None if stepper is None else stepper.whole()
    found["results"] = results_of(tape, target, sources, reader.held, reader.namespaces)
    complete = len(found["rows"]) == found["total"]
    return found | wrong_with(tape, found, None if target is None else (target, sources)) if complete else found
