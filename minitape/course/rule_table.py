"""minitape's table of rules in lesson 12: its lines, and a line of the learner's own.

>>> import minitape as tf
>>> cube = add_rule("cube Cube x³ | x * x * x | g * 3 * x * x")
>>> x = tf.Variable(2.0)
>>> with tf.GradientTape() as tape:
...     y = cube(x)
>>> float(y), float(tape.gradient(y, x))
(8.0, 12.0)
>>> del TABLE["cube"]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..common.texts import say
from ..engine.table.code import compile_text, names_in
from ..engine.table.primitives import TABLE, Primitive
from ..engine.table.primitives.formula import ARRAY
from ..engine.tensor.convert import convert_to_tensor

if TYPE_CHECKING:
    from ..engine.types import Object

OWN: set[str] = set()  # the lines that a learner added
WORDS = 3  # before the formula: a name, TensorFlow's name, a label


def rules_of(*names: str) -> list[str]:
    """The lines of the table for these operations.

    >>> rules_of("multiply")
    ['multiply  Mul       ×      | x * y                | g * y                | g * x']
    """
    return [
        f"{p.name:<9} {p.op:<9} {p.label:<6} | {' | '.join(f'{text:<20}' for text in p.texts)}".rstrip()
        for p in map(TABLE.__getitem__, names)
    ]


def operation_of(line: str) -> Primitive:
    """The operation that a line describes, as minitape makes one of each line of its table. No table has it yet.

    >>> operation_of("cube | x * x * x")
    Traceback (most recent call last):
        ...
    ValueError: A line has a name, TensorFlow's name and a label | the formula | a rule for each input: 3 parts or
    more. Here are: 2.
    """
    head, *texts = (part.strip() for part in line.split("|"))
    names = head.split()
    if len(texts) <= 1:
        raise ValueError(
            say(
                "A line has a name, TensorFlow's name and a label | the formula | a rule for each input: 3 parts or "
                "more. Here are: {parts}.",
                parts=1 + len(texts),
            )
        )
    if len(names) != WORDS:
        words = "Before the first | are three words: a name, TensorFlow's name and a label. Here are: {head}."
        raise ValueError(say(words, head=head))
    if names[0] in TABLE and names[0] not in OWN:
        raise ValueError(say("minitape's table has a line for {name}. Choose another name.", name=repr(names[0])))
    read: set[str] = set()
    for at, text in enumerate(texts):
        here = _names_in(text)
        if unknown := sorted(here - set("gzxy" if at else "xy") - (ARRAY.keys() & TABLE.keys())):
            raise ValueError(
                say(
                    "{part}: a formula has x and y, a rule z and g, too, and both have functions such as exp and sin. "
                    "It does not know {names}.",
                    part=text,
                    names=", ".join(unknown),
                )
            )
        read |= here
    inputs, rules = 1 + ("y" in read), len(texts) - 1
    if inputs != rules:
        raise ValueError(
            say("Inputs of the operation: {inputs}. Rules in the line: {rules}.", inputs=inputs, rules=rules)
        )
    ways = [None if text == "-" else compile_text(text, {**TABLE}) for text in texts[1:]]
    made = Primitive(names[0], compile_text(texts[0], ARRAY, "x, y=None"), ways, op=names[1], label=names[2])
    made.texts = tuple(texts)
    return made


def _names_in(text: str) -> set[str]:
    """The names in a formula or a rule; ValueError where that is none."""
    if "^" in text:
        raise ValueError(say("In Python ^ is not a power. Write **, as in x ** 2."))
    try:
        return set() if text == "-" else names_in(text)
    except SyntaxError as error:
        raise ValueError(
            say("Python cannot read this part of the line: {part} ({why}).", part=repr(text), why=error.msg)
        ) from None


def add_rule(line: str) -> Callable[..., Object]:
    """Add a line to the table of rules, and return its operation, a function of tensors and variables.

    A line that you added before is replaced. Raises ValueError for a name that minitape has.
    """
    made = operation_of(line)
    OWN.add(made.name)
    TABLE[made.name] = made
    return lambda *inputs: made(*map(convert_to_tensor, inputs))
