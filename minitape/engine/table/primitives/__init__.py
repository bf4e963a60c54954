"""Define the table of primitives, which declares each operation that minitape can differentiate exactly once.

A primitive is a forward function on NumPy arrays and one derivative rule for each input. A rule receives the adjoint
``g`` of the output, the output ``z`` and the inputs. It returns the input's share of the adjoint (a vector-Jacobian
product), or None if no gradient passes. Rules consist only of operators and other primitives, so the same rule works
for NumPy arrays in a plain sweep and for tensors in a sweep that an outer tape records. A rule that is a line of text
(``elementwise``) is compiled once for each of the two. Other rules are Python functions (``reduce`` and its neighbors).

``TABLE`` maps names to primitives, in order of declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...types import Array, Function, Names, Object, Result

# A rule takes the adjoint, the output and the inputs, and the attributes as keyword arguments.
Rule = Callable
Rules = Sequence[Rule | None] | Rule | None  # A list of rules, one rule for all inputs, or None.

TABLE: dict[str, Primitive] = {}


class Primitive:
    """An operation with its derivatives.

    Attributes:
        name: The name in ``TABLE``.
        op: TensorFlow's name for the operation.
        label: The label in pictures.
        forward: The function that computes the output from arrays: ``forward(*arrays, **attrs)``.
        rules: A rule for each input, or one function that returns the shares of all inputs. The share of input i is
            ``rules[i](g, z, *inputs, **attrs)``. If a rule is None, no gradient passes to that input. If ``rules`` is
            None, the operation has no derivative.
        kept_inputs: The positions of the inputs that the rules read, or None for all inputs. A tape does not keep other
            large arrays.
        kept_beside_number: For formulas with two inputs, two tuples of input positions. The rules read the positions in
            the first tuple if input 0 is a Python number, and those in the second tuple if input 1 is a Python number.
        keeps_output: Whether the rules read the output.
        missing: How TensorFlow treats an operation without a derivative. "none" means that the gradient is None.
            "unregistered" means that asking for the gradient raises LookupError.
        mandatory: Whether a sweep applies the rules even if no source is among the ancestors. As in TensorFlow, this
            applies to user-defined gradients and to operations whose gradient raises LookupError.
        code: The number of the elementwise operation, or 0 for all other primitives.
        texts: The formula of the output, followed by the formulas of the rules, as in a textbook. Other primitives have
            no texts.
        stateful: Whether each call to a traced function runs the operation, in program order, even if the result is not
            used.
        has_tuple_output: Whether `forward` returns a tuple even for a single result.
    """

    __slots__ = (
        "name",
        "op",
        "label",
        "forward",
        "rules",
        "kept_inputs",
        "kept_beside_number",
        "keeps_output",
        "missing",
        "mandatory",
        "code",
        "texts",
    )
    stateful = False
    has_tuple_output = False

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
    ):
        """Create a primitive without adding it to ``TABLE``.

        Args:
            name: The name in ``TABLE``.
            forward: The function that computes the output from arrays.
            rules: A rule for each input, one function for all inputs, or None.
            op: TensorFlow's name for the operation. The default is the name in camel case.
            label: The label in pictures. The default is the name.
            keep: The values that the rules read, such as "x", "yz" or "all".
            missing: How TensorFlow treats an operation without a derivative, "none" or "unregistered".
        """
        self.name = name
        self.forward = forward
        self.missing = missing
        self.rules: Rules = rules if rules is None or callable(rules) else tuple(rules)
        self.mandatory = name in ("custom_gradient", "py_function") or missing == "unregistered"
        self.kept_inputs = None if keep == "all" else tuple(i for i, letter in enumerate("xy") if letter in keep)
        self.kept_beside_number: tuple[tuple[int, ...], ...] = ()
        self.keeps_output = keep == "all" or "z" in keep
        self.op = op or "".join(word.capitalize() for word in name.split("_"))
        self.label = label or name
        self.code = 0
        self.texts: Names = ()

    def __call__(self, *inputs: Array, **attrs: Object) -> Result:
        """Apply the primitive. If an input is a tensor, the operation is recorded.

        Args:
            *inputs: Tensors or arrays.
            **attrs: The attributes, such as an axis.

        Returns:
            The output, or a tuple of several outputs.
        """
        # Only tensors have the method `_convert_inputs_and_run`, which minitape.engine.tensor.operation adds to the
        # class `Tensor`.
        for value in inputs:
            if hasattr(value, "_convert_inputs_and_run"):
                return value._convert_inputs_and_run(self, inputs, attrs)
        return self.forward(*inputs, **attrs)

    @property
    def is_binary(self) -> bool:
        """Whether the primitive has a formula with two inputs, x and y. It then has a text for each rule."""
        return len(self.texts) == 3

    @property
    def is_nondifferentiable(self) -> bool:
        """Whether the primitive has no derivative with respect to any input."""
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
        name: The name, which must not be in use.
        forward: The function that computes the output from arrays.
        rules: A rule for each input, one function for all inputs, or None.
        **options: The options `op`, `label`, `keep` and `missing` (:class:`Primitive`).

    Returns:
        The primitive.

    Raises:
        ValueError: If a primitive with this name already exists.
    """
    if name in TABLE:
        raise ValueError(f"primitive {name!r} is already declared")
    TABLE[name] = primitive = Primitive(name, forward, rules, **options)
    return primitive
