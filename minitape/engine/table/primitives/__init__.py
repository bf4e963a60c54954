"""The table of primitives, in which each operation that minitape can differentiate is declared once.

A primitive is a forward function on NumPy arrays and one derivative rule for each input. A rule receives the adjoint
``g`` of the output, the output ``z`` and the inputs. It returns the input's share of the adjoint (its vector-Jacobian
product), or None if no gradient passes. Rules use only operators and other primitives, so the same rule runs on NumPy
arrays (in a plain sweep) and on tensors (in a sweep that an outer tape records).

``TABLE`` maps names to primitives in the order of their declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ...types import Array, Function, Object, Result

Rule: TypeAlias = Callable  # Its arguments are the adjoint, the output, the inputs, and the attributes by name.
Rules: TypeAlias = Sequence[Rule | None] | Rule | None  # A sequence has one rule for each input. A function is for all.

TABLE: dict[str, Primitive] = {}


class Primitive:
    """An operation with its derivatives.

    Attributes:
        name: Its name in ``TABLE``.
        op: TensorFlow's name for it.
        label: Its label in pictures.
        forward: The function that computes the output from arrays: ``forward(*arrays, **attrs)``.
        rules: One rule for each input, or one function that returns the shares of all inputs. The share of input i is
            ``rules[i](g, z, *inputs, **attrs)``. None instead of a rule means that no gradient passes. None instead of
            all rules means that the operation has no derivative.
        keep: The values that the rules read, such as "x", "yz" or "all", so that a tape keeps no other large arrays.
        kept_inputs: The positions of the inputs in `keep`; None for all inputs.
        kept_beside_number: For a formula of two inputs, the positions of the inputs that its rules read if input 0, or
            input 1, is a Python number.
        keeps_output: Whether the rules read the output.
        missing: How TensorFlow treats an operation without derivative. With "none" the gradient is None. With
            "unregistered" it raises LookupError.
        mandatory: Whether a sweep applies the rules even if no source is among the ancestors, as TensorFlow does for
            the user's own functions and for operations whose gradient raises LookupError.
        code: Its number among the elementwise operations; 0 for other primitives.
        texts: The formulas of the output and of the rules, as a textbook writes them; empty for other primitives.
        stateful: Whether each call of a traced function runs the operation, in the order of the program, even if the
            result is not used.
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
    stateful = False

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
        """Create a primitive that is not in ``TABLE``. The parameters are the attributes of the same names."""
        self.name, self.forward, self.keep, self.missing = name, forward, keep, missing
        self.rules: Rules = rules if rules is None or callable(rules) else tuple(rules)
        self.mandatory = name in ("custom_gradient", "py_function") or missing == "unregistered"
        self.kept_inputs = None if keep == "all" else tuple(i for i, letter in enumerate("xy") if letter in keep)
        self.kept_beside_number: tuple[tuple[int, ...], ...] = ()
        self.keeps_output = keep == "all" or "z" in keep
        self.op = op or "".join(word.capitalize() for word in name.split("_"))
        self.label = label or name
        self.code = 0
        self.texts: tuple[str, ...] = ()

    def __call__(self, *inputs: Array, **attrs: Object) -> Result:
        """Apply the primitive, as a recorded operation if an input is a tensor, otherwise as a plain function.

        Args:
            *inputs: Tensors or arrays.
            **attrs: The attributes, such as an axis.

        Returns:
            The output, or a tuple of several outputs.
        """
        for value in inputs:
            if hasattr(value, "_apply"):
                return value._apply(self, inputs, attrs)
        return self.forward(*inputs, **attrs)

    @property
    def is_flat(self) -> bool:
        """Whether the primitive has no derivative by any of its inputs."""
        rules = self.rules
        return rules is None or (not callable(rules) and all(rule is None for rule in rules))


def declare(name: str, forward: Function, rules: Rules = None, **options: Object) -> Primitive:
    """Declare a primitive and add it to ``TABLE``.

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

    Args:
        name: The name, which must be new.
        forward: The function that computes the output from arrays.
        rules: One rule for each input, one function for all inputs, or None.
        **options: The options `op`, `label`, `keep` and `missing` (:class:`Primitive`).

    Returns:
        The primitive.

    Raises:
        ValueError: If a primitive with this name exists.
    """
    if name in TABLE:
        raise ValueError(f"primitive {name!r} is declared already")
    TABLE[name] = primitive = Primitive(name, forward, rules, **options)
    return primitive
