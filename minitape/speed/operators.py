"""Generate tensor operators and functions from the table of derivatives, such as ``x * y`` and ``tf.sin(x)``.

All of them are generated from a single template, which covers the usual operands: floats of the same dtype whose shapes
broadcast. A generated function computes the value, creates a tensor and writes a row. If no recording is open, the
tensor stores its origin for `explain` instead. The plain function, ``general``, handles all other operands and
performs TensorFlow's checks.
"""

from sys import _getframe
from textwrap import indent
from types import FrameType
from weakref import ref

import numpy as np
from numpy import ndarray

from ..engine.record.provenance import DEPTH, clock, find_user_place
from ..engine.record.record import Record
from ..engine.record.thread_state import state
from ..engine.record.user_frames import OWN_FILES
from ..engine.table.float_warnings import ignore_fp_errors, run_number
from ..engine.table.generated_code import execute_definitions
from ..engine.table.primitives import Primitive
from ..engine.table.primitives.elementwise import LARGE, select_formulas_for_value_kind
from ..engine.tensor.numbers import build_number_tensor, convert_number_operand
from ..engine.tensor.rule_functions import PYTHON_OPERATORS
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.types import Array, Function, OptionalNumber, TextsByName

# In the template, ``a`` and ``b`` are the arguments. ``x`` and ``y`` are the operands' arrays, in the formula's order.
# The placeholders are, in order:
#
# first_operand: This code reads the first operand if it is a variable. ``general`` handles everything but tensors.
# offset: The row's offset, or None if this recording is not open or ``record.write_rows`` must find the frame.
# recorded_other: This code reads the second operand: a tensor, a number with a row, or the state of a variable.
# numbers: Whether the operands are numbers of one type.
# enter_other: This condition writes the leaf of a second operand that has no row yet.
# number_row: This code computes a number and writes its row (see ``_ROW``).
# untracked: Whether the result depends on nothing that is watched.
# arrays: Whether the operands are small float arrays that broadcast.
# row: This code computes an array and writes its row.
# any_other: This code reads the second operand if ``record.write_rows`` writes the row or no recording is open.
# fits: Whether the operands are floats of one dtype that broadcast. ``general`` handles all other operands.
# collect_inputs: If no recording is open, this code collects for `explain` what the value was computed from.
_TEXT = """
def {name}({signature}):
{first_operand}    {start}
    kind = type({x})
    if record is not None and (offset := {offset}) is not None:
{recorded_other}        if {numbers}{enter_other} and record.next < record.pack_limit:
{number_row}            if {untracked}:
                record.untracked.add(row)
                record.untracked_end = row + 1
            return made
        if ({arrays}){enter_other} and record.next < record.pack_limit:
{row}            if {untracked}:
                record.untracked.add(row)
                record.untracked_end = row + 1
            return made
    record{frame} = state.record{caller}
{any_other}    if not ({fits}):  # another kind of values
        return general({arguments})
{convert_other}    value = {formula}
    made = EagerTensor()
    made._value, made._record = value, None
    if record is None:
        depth = 0
{collect_inputs}        made._origin = clock(), "op", find_user_place(frame), values, primitive, depth
    else:
        made._origin = None
        record.write_rows(primitive, ({operands}), NO_ATTRS, (made,), frame)
    return made
"""
_READ_FIRST = """
    {unpack}
    if type(a) is not EagerTensor:
        return general({arguments})
""".lstrip("\n")
_ROW = """
            value = {formula}
            cells, row = record.rows, record.next
            cells += {code}, {rows}, None, offset, value
            record.next = row + 1
            made = EagerTensor()
            made._value, made._record = value, record
            made._row, made._origin = row, None
""".lstrip("\n")
_RECORDED_OTHER = """
        if type(b) is EagerTensor:
            other, {y} = b, b._value
        else:
            if type(b) is float or type(b) is int:
                other = record.numbers.get(b)
                if other is None and ({one}):
                    other = build_number_tensor(b, {first}.dtype.type, record, offset)
            else:
                b = other = b._read_and_watch() if hasattr(b, "_read_and_watch") else b
            {y} = other._value if type(other) is EagerTensor else None
""".lstrip("\n")
# This code inlines minitape.engine.record.provenance.build_origin.
_ORIGIN_OF_INPUT = """
        {origin} = {t}._origin
        if {t}._record is not None:
            {origin} = {t}._record, {t}._row
        elif {origin} is not None and (age := {origin}[5] + 1) > depth:
            if age > DEPTH:
                {origin} = None
            else:
                depth = age
""".lstrip("\n")
_ORIGIN_OF_FIRST = _ORIGIN_OF_INPUT.format(t="a", origin="first")
_ORIGIN_OF_SECOND = indent(_ORIGIN_OF_INPUT.format(t="other", origin="second"), "    ")
_ORIGIN_OF_ONE = f"{_ORIGIN_OF_FIRST}        values = ref(a), first\n"
_ORIGIN_OF_TWO = f"""{_ORIGIN_OF_FIRST}        if other is None:
            values = ref(a), first
        else:
{_ORIGIN_OF_SECOND}            values = ref(a), first, ref(other), second
"""
_NUMBER = "kind is float32 or kind is float64"
_ARRAY = "{x}.size {bound} and {x}.dtype.char in 'fd'"
_SAME_SHAPES = (
    f"kind is ndarray is type({{other}}) and x.shape == y.shape and x.dtype is y.dtype and {_ARRAY.replace('{x}', 'x')}"
)
_WITH_NUMBER = f"kind is ndarray and type({{other}}) is {{x}}.dtype.type and {_ARRAY}"
_SMALL = "<= record.max_small_size"
_USUAL = "< LARGE"
_ANY_OTHER = """
    if type(b) is EagerTensor:
        other, {y} = b, b._value
    elif type(b) is float or type(b) is int:
        other, {y} = None, b
        if record is not None:
            other = convert_number_operand(a, b, frame)
            if type(other) is not EagerTensor:
                return general({arguments})
            {y} = other._value
    else:
        other = b._read_and_watch() if hasattr(b, "_read_and_watch") else None
        if type(other) is not EagerTensor:
            return general({arguments})
        {y} = other._value
""".lstrip("\n")

# NumPy functions may return integers for a Python number, so the number is converted first.
_CONVERT_OTHER = "    if other is None:\n        {y} = {first}.dtype.type(b)\n"

_UNARY_TEXTS = {
    "recorded_other": "",
    "any_other": "",
    "convert_other": "",
    "enter_other": "",
    "collect_inputs": _ORIGIN_OF_ONE,
    "operands": "a,",
    "rows": "a._row, a._row",
    "untracked": "a._row < record.untracked_end and a._row in record.untracked",
    "numbers": f"({_NUMBER})",
    "arrays": _ARRAY.format(x="x", bound=_SMALL),
    "fits": f"{_NUMBER} or {_ARRAY.format(x='x', bound=_USUAL)}",
}


def _build_binary_texts(first_name: str, second_name: str, reflected: bool) -> TextsByName:
    """Return the parts of the template that depend on the two operands, keyed by placeholder.

    Args:
        first_name: The name of the array of ``a``, "x" or "y".
        second_name: The name of the array of ``b``.
        reflected: Whether the operands are swapped.
    """

    def format_condition(condition: str, bound: str) -> str:
        return condition.format(x=first_name, other=second_name, bound=bound)

    small = (
        format_condition(_SAME_SHAPES, _SMALL),
        format_condition(_WITH_NUMBER, _SMALL),
        f"{second_name} is not None and are_small_broadcastable_floats(x, y, record.max_small_size + 1)",
    )
    usual = (
        f"({_NUMBER}) and (other is None or type({second_name}) is kind)",
        format_condition(_SAME_SHAPES, _USUAL),
        f"({format_condition(_ARRAY, _USUAL)} if other is None else are_small_broadcastable_floats(x, y, LARGE))",
    )
    return {
        "recorded_other": _RECORDED_OTHER.format(
            y=second_name, first=first_name, one=f"{_NUMBER} or {format_condition(_ARRAY, _SMALL)}"
        ),
        "any_other": _ANY_OTHER.format(y=second_name, arguments="a, b"),
        "convert_other": _CONVERT_OTHER.format(y=second_name, first=first_name),
        "enter_other": " and (other._record is record or enter(record, other, offset))",
        "collect_inputs": _ORIGIN_OF_TWO,
        "operands": "other, a" if reflected else "a, other",
        "rows": "other._row, a._row" if reflected else "a._row, other._row",
        "untracked": "a._row < record.untracked_end and a._row in record.untracked and other._row in record.untracked",
        "numbers": f"({_NUMBER}) and type({second_name}) is kind",
        "arrays": " or ".join(small),
        "fits": " or ".join(usual),
    }


def build_operation_function(
    general: Function,
    primitive: Primitive,
    name: str,
    reflected: bool = False,
    signature: str = "",
    reads: bool = False,
    inside: bool = False,
) -> Function:
    """Generate a function of one or two tensors from a line in the table of derivatives.

    Args:
        general: The plain function, which handles all operands that the generated function does not cover.
        primitive: The primitive of the line.
        name: The name of the generated function.
        reflected: Whether the operands are swapped, as in ``__rsub__``.
        signature: The parameters of a function, beginning with the operands, such as "x, y, name=None". If this is
            empty, the function is an operator. The first operand of an operator is a tensor.
        reads: Whether the function is an operator of ``tf.Variable``. If so, its first operand is the variable's
            current state.
        inside: Whether the rules of a recorded sweep call the function. Their rows have a fixed site.

    Returns:
        The generated function. The function returns an ``EagerTensor``, or the result of ``general``.
    """
    is_binary = primitive.is_binary
    arguments = "a, b" if is_binary else "a"
    operands = signature.split(", ")[: 1 + is_binary] if signature else []
    first_operand = ""  # The first operand of an operator is a tensor, so there is nothing to read.
    if reads:
        first_operand = _READ_FIRST.format(unpack="a = a._read_and_watch()", arguments=arguments)
    elif operands:
        unpack = "" if signature == arguments else f"{arguments} = {', '.join(operands)}"
        first_operand = _READ_FIRST.format(unpack=unpack, arguments=arguments)
    sign_function = PYTHON_OPERATORS.get(primitive.name)
    type_expression = "ndarray if type(y) is ndarray else type(x)" if is_binary else "kind"
    # Except for Python's operators, there is a different function for each kind of value.
    function = f"forward[{type_expression}]" if sign_function is None else "compute"
    formula = f"ignore_fp_errors().run({function}, x{', y' if is_binary else ''})"
    first_name, second_name = ("y", "x") if reflected else ("x", "y")
    texts = {
        "name": name,
        "arguments": arguments,
        "signature": signature or arguments,
        "first_operand": first_operand,
        "code": primitive.code,
        "formula": formula,
        "x": first_name,
    }
    if inside:
        texts |= {
            "start": f"record, {first_name} = a._record, a._value",
            "offset": "record.fixed_offset if record is state.record else None",
            "frame": ", frame",
            "caller": ", _getframe(1)",
        }
    else:
        texts |= {
            "start": f"record, frame, {first_name} = a._record, _getframe(1), a._value",
            "frame": "",
            "caller": "",
            "offset": "frame.f_lasti if frame is record.frame else offset_or_none(record, frame)",
        }
    texts |= _build_binary_texts(first_name, second_name, reflected) if is_binary else _UNARY_TEXTS
    if sign_function is not None:
        texts["convert_other"] = ""
    texts["row"] = row = _ROW.format(**texts)
    texts["number_row"] = row if sign_function is None else row.replace("ignore_fp_errors().run(", "run_number(")
    namespace = {
        "general": general,
        "primitive": primitive,
        "forward": ForwardFunctions(primitive.code),
        "compute": sign_function,
        "NO_ATTRS": {},
        "convert_number_operand": convert_number_operand,
        "build_number_tensor": build_number_tensor,
        "are_small_broadcastable_floats": are_small_broadcastable_floats,
        "offset_or_none": find_offset_in_user_frame,
        "enter": add_leaf_for_operand_if_possible,
        "ignore_fp_errors": ignore_fp_errors,
        "run_number": run_number,
        "state": state,
        "_getframe": _getframe,
        "find_user_place": find_user_place,
        "clock": clock,
        "ref": ref,
        "DEPTH": DEPTH,
        "EagerTensor": EagerTensor,
        "LARGE": LARGE,
        "float32": np.float32,
        "float64": np.float64,
        "ndarray": ndarray,
    }
    return execute_definitions(_TEXT.format(**texts), "<formula function>", namespace)[name]


class ForwardFunctions(dict[type, "Function"]):
    """The forward functions of a line in the table, compiled on first use.

    The keys are the types of the operands: ``np.float32`` and ``np.float64`` for scalars, and ``np.ndarray`` for
    arrays. The operands of a function have the same dtype and shapes that broadcast.

    Attributes:
        code: The code of the primitive.
    """

    def __init__(self, code: int):
        """Create an empty dictionary.

        Args:
            code: The code of the primitive.
        """
        self.code = code

    def __missing__(self, value_type: type) -> Function:
        """Compile and store the forward function for a type of value."""
        self[value_type] = function = select_formulas_for_value_kind(
            self.code, np.empty(0) if value_type is ndarray else value_type()
        ).forward
        return function


def find_offset_in_user_frame(record: Record, frame: FrameType) -> OptionalNumber:
    """Return the bytecode offset of an operation whose frame did not write the last row.

    Args:
        record: The recording of the first operand.
        frame: The frame that called the generated function.

    Returns:
        The offset, or None if this recording is not open in this thread, or if the frame does not belong to the user.
        In these cases, ``record.write_rows`` finds the offset.
    """
    if state.record is not record or not record.is_opened_by_tape:
        return None
    if record.fixed_offset is None and (state.fixed_site or OWN_FILES[frame.f_code.co_filename]):
        return None
    return record.find_current_offset(frame)


def add_leaf_for_operand_if_possible(record: Record, tensor: Tensor, offset: int) -> bool:
    """Add a leaf for an operand that has no row in this recording.

    Returns:
        Whether the operand now belongs to this recording. A result that belongs to another recording still in use is
        not moved.
    """
    record.find_or_add_row(tensor, None, offset)
    return tensor._record is record


def are_small_broadcastable_floats(x: Array, y: Array, bound: float) -> bool:
    """Return whether two operands are small floats of the same dtype, with shapes that broadcast in a simple way.

    This is the case if one of the shapes is empty, or if the shape of ``x`` ends with the shape of ``y``.

    Args:
        x: The array or scalar of the first operand.
        y: The array or scalar of the second operand.
        bound: Each operand must have fewer elements than this number.
    """
    if x.dtype is not y.dtype or x.dtype.char not in "fd" or x.size >= bound or y.size >= bound:
        return False
    m = x.shape
    n = y.shape
    return m == n or not m or m[len(m) - len(n) :] == n
