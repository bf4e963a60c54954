"""Find minitape's rule for an operation in another framework.

A picture shows a rule only if the recorded numbers confirm it. In the forward pass, the operation in minitape's table
must compute the framework's result from the recorded inputs. In the backward pass, the rule must compute the
framework's share from the adjoint. The picture marks a share that differs, because a hook changed the gradient or the
framework uses a different rule.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ..engine.table.generated_code import compile_expression
from ..engine.table.primitives import TABLE, Rule, activation  # noqa: F401, which declares softmax
from ..engine.table.primitives.elementwise import ARRAY_FORMS, BY_CODE
from ..engine.table.primitives.reduce import unbroadcast
from ..engine.types import Array, Attributes
from .picture_rows import build_formula_fields
from .readable_formulas import list_array_operation_formulas
from .shown_values import to_value_fields
from .snapshot_types import EdgeFields, RowFields

# The names used by PyTorch and JAX. The table itself uses the names of TensorFlow's elementwise kernels.
ELEMENTWISE_ALIASES = (
    "mul=multiply sub=subtract neg=negative div=divide true_divide=divide logistic=sigmoid max=maximum min=minimum "
    "absolute=abs integer_pow=pow rsub=subtract rdiv=divide rpow=pow"
)
ARRAY_ALIASES = (
    "matmul=matmul mm=matmul bmm=matmul mv=matmul dot=matmul dot_general=matmul linear=matmul sum=reduce_sum "
    "reduce_sum=reduce_sum mean=reduce_mean max=reduce_max amax=reduce_max reduce_max=reduce_max min=reduce_min "
    "amin=reduce_min reduce_min=reduce_min softmax=softmax log_softmax=log_softmax T=transpose t=transpose "
    "transpose=transpose permute=transpose reshape=reshape view=reshape flatten=reshape MatMul=matmul "
    "BatchMatMulV2=matmul Softmax=softmax LogSoftmax=log_softmax Sum=reduce_sum Mean=reduce_mean Max=reduce_max "
    "Min=reduce_min"
)
ELEMENTWISE_NAMES, ARRAY_NAMES = (
    dict(pair.split("=") for pair in text.split()) for text in (ELEMENTWISE_ALIASES, ARRAY_ALIASES)
)
PRIMITIVES_BY_NAME = {primitive.op: primitive for primitive in BY_CODE} | {
    primitive.name: primitive for primitive in BY_CODE
}
# PyTorch and JAX do not record a number as an input. These formulas compute it from the input x and the result z. The
# first formula is for a number after the input, and the second for a number before it.
NUMBER_FORMULAS = """
add z - x | z - x
multiply z / x | z / x
subtract x - z | z + x
divide x / z | z * x
pow log(abs(z)) / log(abs(x)) | z ** (1 / x)
"""
NUMBER_SOLVERS = {
    name: [compile_expression(text, {"log": np.log}, "x, z") for text in texts.split("|")]
    for name, texts in (line.split(None, 1) for line in NUMBER_FORMULAS.strip().splitlines())
}
HALF_TOLERANCES = {"float16": 1e-2, "bfloat16": 3e-2}
# Results within the first tolerance confirm a rule. Shares beyond the second tolerance are marked as different.
TOLERANCE, MISMATCH_TOLERANCE = 1e-5, 1e-2
MAX_ELEMENTS = 65_536  # Larger arrays are not recomputed to check a rule.


class KnownRule(NamedTuple):
    """A rule from minitape's table that matches an operation in another framework.

    Attributes:
        fields: The row fields that contain the formula and the rules.
        rules: The rule of each input, or None for an input without a rule.
        result: The result of the operation.
        inputs: The arrays that the rules read as inputs.
        arguments: The keyword arguments of the rules.
        tolerance: The relative error up to which arrays count as equal.
        local_dtype: The dtype of the local derivatives, or "" for an operation that is not elementwise.
        is_unique: Whether no other arguments would compute the same result.
    """

    fields: RowFields
    rules: Sequence[Rule | None]
    result: Array
    inputs: list[Array]
    arguments: Attributes
    tolerance: float
    local_dtype: str = ""
    is_unique: bool = True

    def compare_with_framework_share(
        self, port: int, adjoint: Array | None, framework_share: Array | None
    ) -> EdgeFields:
        """Compare the share that a framework sent with the share that the rule computes.

        Args:
            port: Which input of the operation received the share.
            adjoint: The adjoint of the result, or None if it was not recorded.
            framework_share: The share, in the input's shape, or None if it was not recorded.

        Returns:
            The field "local" contains the local derivative if the shares agree and the operation is elementwise. The
            field "differs" is set if the shares clearly differ.
        """
        z = self.result
        rule = self.rules[port]
        edge_fields: EdgeFields = {"local": None}
        if rule is None or adjoint is None or framework_share is None:
            return edge_fields
        with suppress(ValueError), np.errstate(all="ignore"):  # The adjoint may have a different shape.
            expected_share = rule(adjoint.reshape(z.shape), z, *self.inputs, **self.arguments)
            expected_share = (
                expected_share.reshape(framework_share.shape)
                if expected_share.size == framework_share.size
                else unbroadcast(expected_share, framework_share.shape)
            )
            if not _are_arrays_close(expected_share, framework_share, self.tolerance):
                min_tolerance = self.tolerance * np.abs(adjoint).max()  # A sum may consist only of rounding errors.
                if (
                    self.is_unique
                    and np.isfinite(expected_share).all()
                    and not _are_arrays_close(expected_share, framework_share, MISMATCH_TOLERANCE, min_tolerance)
                ):
                    edge_fields["differs"] = True
            elif self.local_dtype:
                local = np.broadcast_to(rule(np.ones_like(z), z, *self.inputs), z.shape)
                edge_fields["local"] = to_value_fields(local.astype(self.local_dtype)[()])
        return edge_fields


def find_known_rule(
    op: str, inputs: Sequence[Array | None], result: Array | None, dtype: str = "float32", label: str = ""
) -> KnownRule | None:
    """Find the rule for an operation from its name, inputs and result.

    Args:
        op: The framework's name for the operation.
        inputs: The arrays that the framework recorded as inputs.
        result: The result.
        dtype: The dtype of the result, which determines the tolerance.
        label: The row's label. If it begins with a number, the number comes before the input.

    Returns:
        The rule, or None if an array is missing or too large, or if no operation in the table computes the result.

    >>> two, three, six = map(np.float64, (2.0, 3.0, 6.0))
    >>> found = find_known_rule("mul", [two, three], six)
    >>> found.fields["said"], found.compare_with_framework_share(0, two, six)["local"]["data"]
    (['x × y', 'g × y', 'g × x'], 3.0)
    >>> find_known_rule("mul", [two, three], three) is None
    True
    >>> find_known_rule("rdiv", [two], six).fields["said"], find_known_rule("sum", [np.ones(6)], six).fields["said"]
    (['12 / x', '−g × 12 / x²'], ['sum(x)', 'g'])
    """
    values = [np.asarray(value) for value in inputs if value is not None]
    if (
        result is None
        or not values
        or len(values) < len(inputs)
        or max(array.size for array in (*values, result)) > MAX_ELEMENTS
    ):
        return None
    z = np.asarray(result)
    tolerance = HALF_TOLERANCES.get(dtype, TOLERANCE)
    with np.errstate(all="ignore"):
        table_name = ELEMENTWISE_NAMES.get(op, op)
        is_number_first = (op in ELEMENTWISE_NAMES and op[0] == "r") or re.match(r"-?\d", label)
        for name in ["square", "pow"] if table_name == "pow" else [table_name]:
            with suppress(Exception):  # An input that was changed in place may have a different shape.
                row_fields, operands, first_rule = _match_elementwise_operation(name, values, z, is_number_first)
                form = ARRAY_FORMS[PRIMITIVES_BY_NAME[name].code]
                if _are_arrays_close(np.asarray(form.forward(*operands)), z, tolerance):
                    local_dtype = "float64" if dtype == "float64" else "float32"
                    return KnownRule(
                        row_fields, form.rules[first_rule:], z, [operands[0], operands[-1]], {}, tolerance, local_dtype
                    )
        return _match_array_operation(op, values, z, tolerance)


def _match_elementwise_operation(
    name: str, values: list[Array], z: Array, is_number_first: object
) -> tuple[RowFields, list[Array], int]:
    """Return the row fields and operands of an elementwise operation, and the index of its first rule.

    If one input is missing, it is a number that is computed from the result.
    """
    texts = PRIMITIVES_BY_NAME[name].texts
    first_index = int(bool(is_number_first))
    if len(texts) == len(values) + 1:
        return build_formula_fields(texts), values, 0
    solutions = NUMBER_SOLVERS[name][first_index](values[0], z)
    number = f"{np.median(solutions[np.isfinite(solutions)]):.6g}"
    row_fields = build_formula_fields(
        [texts[0], texts[1 + first_index]], {"xy"[first_index]: "x", "yx"[first_index]: number}
    )
    operands = [values[0], np.float64(number)]
    return row_fields, operands[::-1] if first_index else operands, first_index


def _match_array_operation(op: str, values: list[Array], z: Array, tolerance: float) -> KnownRule | None:
    """Find the rule for an operation on whole arrays, by trying which arguments produce the result."""
    primitive = TABLE.get(ARRAY_NAMES.get(op, ""))
    bias = values[2:]
    if primitive is None:
        return None
    if bias:
        values = values[:2]
        z = z - bias[0]
    if (
        primitive.name == "matmul"
    ):  # The table only multiplies matrices, so a vector becomes a row on the left or a column on the right.
        x, y = values
        values = [x[None] if x.ndim == 1 else x, y[:, None] if y.ndim == 1 else y]
    min_tolerance = 0.0
    if primitive.name.startswith("reduce"):  # TensorFlow records the axes as an input.
        values, min_tolerance = values[:1], tolerance * np.abs(values[0]).max()
    matches = []
    for attrs in _list_possible_arguments(primitive.name, values[0], z):
        with suppress(Exception):
            output = primitive.forward(*values, **attrs)
            if _are_arrays_close(output.reshape(z.shape), z, tolerance, min_tolerance):
                matches.append((output, values, attrs))
    if not matches:
        return None
    formulas = list_array_operation_formulas(primitive.name, matches[0][2], np.ndim(matches[0][0]))
    if bias:
        formulas = [f"{formulas[0]} + bias", *formulas[1:], "g"]
    assert isinstance(primitive.rules, tuple)
    rules = (*primitive.rules, lambda g, *_, **__: g)
    return KnownRule(
        {"formula": "", "rule": [], "said": formulas}, rules, *matches[0], tolerance, is_unique=len(matches) == 1
    )


def _list_possible_arguments(name: str, x: Array, z: Array) -> list[Attributes]:
    """Return the keyword arguments with which an operation on ``x`` may have computed ``z``."""
    flags = (False, True)
    if name == "matmul":
        return [{"transpose_a": a, "transpose_b": b} for a in flags for b in flags]
    if name in ("reshape", "transpose"):
        return [{"shape": z.shape} if name == "reshape" else {"perm": (1, 0)}]
    axes = range(x.ndim)
    if name.startswith("reduce"):
        return [{"axis": axis, "keepdims": x.ndim == z.ndim} for axis in ((*axes,), *zip(axes, strict=True))]
    return [{"axis": axis} for axis in axes]


def _are_arrays_close(value: Array, reference: Array, tolerance: float, min_tolerance: float = 0.0) -> bool:
    largest = np.abs(reference[np.isfinite(reference)]).max(initial=min_tolerance / tolerance)
    return value.shape == reference.shape and np.allclose(
        value, reference, rtol=tolerance, atol=tolerance * largest, equal_nan=True
    )
