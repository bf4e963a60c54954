"""The table of primitives: everything minitape can differentiate, each declared once.

A primitive is a forward function on NumPy arrays and one derivative rule for each input. A rule receives the adjoint
``g`` of the output, the output ``z`` and the inputs, and returns the input's share of the adjoint (its
vector-Jacobian product), or None where no gradient passes. Rules are written with operators and with other primitives,
so the same rule runs on NumPy arrays (a plain sweep) and on tensors (a sweep that an outer tape records).

``TABLE`` maps names to primitives in the order of their declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ...types import Array, Function, Object, Result

Rule: TypeAlias = Callable  # of the adjoint, the output and the inputs; see Primitive
Rules: TypeAlias = Sequence[Rule | None] | Rule | None  # one for each input, or one for all

TABLE: dict[str, Primitive] = {}


class Primitive:
    """One differentiable operation.

    ``forward(*arrays, **attrs)`` computes; ``rules[i](g, z, *inputs, **attrs)`` is the adjoint's share of input i, or
    ``rules`` is one function that returns the shares of all inputs at once. ``keep`` names what the rules read
    ("x", "y", "z", ... or "all"), so that a tape holds no array longer than needed. ``rules=None`` declares an
    operation without derivative; the string given as ``missing`` then says how TensorFlow treats it: "none" (the
    gradient is None) or "unregistered" (LookupError).
    """

    __slots__ = (
        "name",
        "op",
        "label",
        "forward",
        "rules",
        "keep",
        "kept_inputs",
        "kept_beside_number",
        "keeps_output",
        "missing",
        "mandatory",
        "code",
        "texts",
    )
    stateful = False  # whether a traced function runs it in any case, in the order in which it was written

    def __init__(
        self,
        name: str,
        forward: Function,
        rules: Rules,
        *,
        op: str = "",
        label: str = "",
        keep: str = "all",
        missing: str = "none",
    ) -> None:
        self.name, self.forward, self.keep, self.missing = name, forward, keep, missing
        self.rules: Rules = rules if rules is None or callable(rules) else tuple(rules)
        # whether a sweep asks for its gradient also where no source is behind it, as TensorFlow does: functions of the
        # user, and what has no gradient and is refused
        self.mandatory = name in ("custom_gradient", "py_function") or missing == "unregistered"
        self.kept_inputs = (
            None if keep == "all" else tuple(i for i, letter in enumerate("xy") if letter in keep)
        )  # inputs; None: all
        # the same of a formula whose input 0 or 1 is a Python number
        self.kept_beside_number: tuple[tuple[int, ...], ...] = ()
        self.keeps_output = keep == "all" or "z" in keep
        self.op = op or "".join(word.capitalize() for word in name.split("_"))
        self.label = label or name
        self.code = 0  # its number among the scalar rows, 0 for none
        self.texts: tuple[str, ...] = ()  # forward and rules as the textbook writes them

    def __call__(self, *inputs: Array, **attrs: Object) -> Result:
        """Applies the primitive: to tensors as a recorded operation, to plain arrays as a plain function."""
        for value in inputs:
            if hasattr(value, "_apply"):
                return value._apply(self, inputs, attrs)
        return self.forward(*inputs, **attrs)

    @property
    def is_flat(self) -> bool:
        """Whether it has no derivative by any of its inputs."""
        rules = self.rules
        return rules is None or (not callable(rules) and all(rule is None for rule in rules))


def declare(name: str, forward: Function, rules: Rules = None, **options: Object) -> Primitive:
    """Declares a primitive and puts it into ``TABLE``; see :class:`Primitive` for the arguments.

    >>> from minitape.engine.table.primitives import declare, TABLE
    >>> import minitape as tf
    >>> double = declare("doctest_double", lambda x: x + x, [lambda g, z, x: g + g], keep="")
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = double(x)
    >>> print(tape.gradient(y, x))
    tf.Tensor(2.0, shape=(), dtype=float32)
    >>> del TABLE["doctest_double"]
    """
    if name in TABLE:
        raise ValueError(f"primitive {name!r} is declared already")
    TABLE[name] = primitive = Primitive(name, forward, rules, **options)
    return primitive
