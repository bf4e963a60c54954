"""Declare elementwise primitives in a table of derivatives, as in a textbook.

Each line of ``DERIVATIVES`` declares one primitive: name, TensorFlow's name, label in the picture | forward formula |
rule of x | rule of y. The rule ``-`` means that no gradient passes.

:mod:`minitape.engine.table.generated_code` compiles the formulas. A formula may call the functions in
:mod:`minitape.engine.table.primitives.formula`. Primitives that need other functions are in
:mod:`minitape.engine.table.primitives.special`.

If several rules are possible, the table follows TensorFlow's ``math_grad.py``. For equal inputs, maximum and minimum
send their adjoint to the first input. The rules of sqrt, rsqrt and reciprocal return 0 if the incoming adjoint is 0.

Attributes:
    BY_CODE: The primitives of the table. The primitive with code c is at index ``c - FIRST_CODE``.
    ARRAY_FORMS: The compiled formulas for arrays, keyed by code.
    LARGE_FORMS: The compiled formulas for large arrays, keyed by code. They are also the ``forward`` and ``rules`` of
        each ``Primitive``, and ``RowEvaluator`` (``minitape/functions/row_program``) runs this ``forward``. Without an
        accelerator, they are the functions in ``ARRAY_FORMS``, and no array is considered large.
    STOP_CODE: The code of ``stop_gradient``. Its results are not on any tape.
    RECORDED_FUNCTIONS: Recorded operations for functions that occur in formulas but have no line in the table. The
        module ``choice`` adds them.
"""

from typing import Any

import numpy as np

from ...types import Array, FunctionsByName, Names
from ..accelerator import fast
from ..generated_code import compile_expression, replace_operands, replace_operators_with_calls
from . import TABLE, Primitive, Rule, declare
from .formula import ARRAY, SCALAR, find_formula_variables

DERIVATIVES = """
identity           Identity  id   | x                    | g
stop_gradient      StopGradient stop | x                 | -
add                AddV2     +    | x + y                | g                             | g
subtract           Sub       -    | x - y                | g                             | -g
multiply           Mul       ×    | x * y                | g * y                         | g * x
divide             RealDiv   ÷    | x / y                | g / y                         | g * (-x / y / y)
pow                Pow       ^    | pow(x, y)            | g * y * pow(x, y - 1)         | g * z * select(x > 0, \
log(select(x > 0, x, 1)), 0)
floordiv           FloorDiv  //   | floordiv(x, y)       | -                             | -
mod                FloorMod  %    | mod(x, y)            | g                             | -g * floordiv(x, y)
maximum            Maximum   max  | maximum(x, y)        | select(x >= y, g, 0)          | select(x >= y, 0, g)
minimum            Minimum   min  | minimum(x, y)        | select(x <= y, g, 0)          | select(x <= y, 0, g)
squared_difference SquaredDifference (x-y)² | (x - y) * (x - y) | 2 * g * (x - y)        | -2 * g * (x - y)
mul_no_nan         MulNoNan  ×    | mul_no_nan(x, y)     | mul_no_nan(g, y)              | mul_no_nan(x, g)
atan2              Atan2     atan2 | atan2(x, y)         | g * y / (x * x + y * y)       | -g * x / (x * x + y * y)
negative           Neg       -    | -x                   | -g
reciprocal         Reciprocal 1/x | 1 / x                | mul_no_nan(-z * z, g)
square             Square    x²   | x * x                | g * (2 * x)
sqrt               Sqrt      √    | sqrt(x)              | sqrt_share(z, g)
sqrt_share         SqrtGrad  ∂√   | sqrt_share(x, y)     | -g / x * z                    | 0.5 * g / x
rsqrt              Rsqrt     1/√  | 1 / sqrt(x)          | mul_no_nan(-0.5 * z * z * z, g)
exp                Exp       exp  | exp(x)               | g * z
expm1              Expm1     exp-1 | expm1(x)            | g * exp(x)
log                Log       log  | log(x)               | g * (1 / x)
log1p              Log1p     log(1+x) | log1p(x)         | g * (1 / (1 + x))
sin                Sin       sin  | sin(x)               | g * cos(x)
cos                Cos       cos  | cos(x)               | -g * sin(x)
tan                Tan       tan  | tan(x)               | g * (1 + z * z)
asin               Asin      asin | asin(x)              | g * (1 / sqrt(1 - x * x))
acos               Acos      acos | acos(x)              | -g * (1 / sqrt(1 - x * x))
atan               Atan      atan | atan(x)              | g * (1 / (1 + x * x))
sinh               Sinh      sinh | sinh(x)              | g * cosh(x)
cosh               Cosh      cosh | cosh(x)              | g * sinh(x)
tanh               Tanh      tanh | tanh(x)              | g * (1 - z * z)
tanh_share         TanhGrad  ∂tanh | y * (1 - x * x)     | -2 * g * y * x                | g * (1 - x * x)
asinh              Asinh     asinh | asinh(x)            | g / cosh(z)
acosh              Acosh     acosh | acosh(x)            | g / sinh(z)
atanh              Atanh     atanh | atanh(x)            | g * (1 / (1 - x * x))
sigmoid            Sigmoid   σ    | 1 / (1 + exp(-x))    | g * z * (1 - z)
sigmoid_share      SigmoidGrad ∂σ | y * x * (1 - x)      | g * y - 2 * g * y * x         | g * x * (1 - x)
softplus           Softplus  softplus | maximum(x, 0) + log1p(exp(-abs(x))) | g * sigmoid(x)
relu_gate          ReluGrad  gate | relu_gate(x, y)      | relu_gate(g, y)               | zero(y)
relu               Relu      relu | maximum(x, 0)        | relu_gate(g, z)
abs                Abs       abs  | abs(x)               | g * sign(x)
sign               Sign      sign | sign(x)              | zero(x)
floor              Floor     floor | floor(x)            | -
ceil               Ceil      ceil | ceil(x)              | -
rint               Round     round | rint(x)             | -
"""

LARGE = fast.large_size  # In the plain engine, this is infinite, because one form serves all arrays.
FIRST_CODE = 2  # Code 0 is a leaf, and code 1 is a call.

# As in TensorFlow, relu_gate multiplies by 0, so an infinite adjoint becomes NaN.
ARRAY |= {
    "sigmoid": lambda x: 1 / (1 + ARRAY["exp"](-x)),
    "relu_gate": lambda g, z: g * (z > 0),
    "sqrt_share": lambda z, g: ARRAY["mul_no_nan"](1 / (z + z), g),
}
for _real, _functions in SCALAR.items():
    _functions |= {"sigmoid": lambda x, e=_functions["exp"]: 1 / (1 + e(-x)),
                   "sqrt_share": lambda z, g: g if g == 0 else 0.5 / z * g,
                   "relu_gate": lambda g, z, r=_real: g if z > 0 else g * r(0)}  # fmt: skip


class Form:
    """The compiled formulas of a primitive for one kind of value.

    Attributes:
        forward: The function that computes the output from the inputs.
        rules: For each input, the function of (g, z, x, y) that computes its share, or None if no gradient passes.
    """

    __slots__ = ("forward", "rules")

    rules: tuple[Rule | None, ...]

    def __init__(self, texts: Names, functions: FunctionsByName):
        """Compile the formulas of the output and of the rules.

        Args:
            texts: The formula of the output, followed by the formulas of the rules.
            functions: The functions that the formulas may call, keyed by name.
        """
        text = texts[0]
        inputs = "x, y" if len(texts) == 3 else "x"
        name, _, call_arguments = text.partition("(")
        self.forward = (
            functions[name]
            if name in functions and call_arguments == f"{inputs})"
            else compile_expression(text, functions, inputs)
        )
        self.rules = tuple(None if text == "-" else compile_expression(text, functions) for text in texts[1:])


def _build_blockwise_form(texts: Names, plain_form: Form) -> Form:
    """Build the form for large arrays. An accelerator may compute such arrays block by block."""
    form = Form.__new__(Form)
    form.forward = fast.compile_formula_for_large_arrays(texts[0], "xy", plain_form.forward)
    form.rules = tuple(
        rule and fast.compile_formula_for_large_arrays(text, "gzxy", rule)
        for text, rule in zip(texts[1:], plain_form.rules, strict=True)
    )
    return form


def _declare_table_line(line: str) -> None:
    """Compile a line of the table, declare its primitive, and give the primitive the next code.

    The values that a tape has to keep follow from the letters in the rules. For example, the rules of ``x * y`` are ``g
    * y`` and ``g * x``, so a tape keeps both inputs. If input 0 is a Python number, only the rule of input 1 can be
    needed. This rule reads ``x``, so only input 0 is kept.
    """
    head, *formulas = (part.strip() for part in line.split("|"))
    name, op, label = head.split()
    texts = tuple(formulas)
    plain_form = Form(texts, ARRAY)
    large_form = _build_blockwise_form(texts, plain_form)
    rule_texts = texts[1:]
    kept_names = set().union(*(find_formula_variables(formula) for formula in rule_texts if formula != "-")) - {"g"}

    primitive = declare(
        name, large_form.forward, large_form.rules, op=op, label=label, keep="".join(sorted(kept_names))
    )
    primitive.texts = texts
    other_rules = rule_texts[::-1] if len(rule_texts) == 2 else []
    names_read = [set() if text == "-" else find_formula_variables(text) for text in other_rules]
    primitive.kept_beside_number = tuple(
        tuple(i for i, letter in enumerate("xy") if letter in names) for names in names_read
    )
    primitive.code = FIRST_CODE + len(BY_CODE)
    BY_CODE.append(primitive)
    ARRAY_FORMS.append(plain_form)
    LARGE_FORMS.append(large_form)


BY_CODE: list[Primitive] = []
_NO_FORM: Any = None  # Leaves and calls have codes, but no forms.
ARRAY_FORMS: list[Form] = [_NO_FORM] * FIRST_CODE
LARGE_FORMS: list[Form] = [_NO_FORM] * FIRST_CODE
_FORMS_BY_TYPE: dict[type, list[Form]] = {}  # The forms for scalars are compiled for each type on first use.
for _line in DERIVATIVES.strip().splitlines():
    _declare_table_line(_line)

STOP_CODE = TABLE["stop_gradient"].code
# Some rules are themselves lines of the table. For example, the rule of tanh is tanh_share, with z as x and g as y.
_FORMULAS_IN_TABLE = {
    replace_operands(p.texts[0], operands): f"{p.name}({', '.join(operands)})"
    for p in BY_CODE
    if p.is_binary
    for operands in ("zg", "xg")
}


def to_recorded_formula(rule_text: str) -> str:
    """Convert a rule to the operation calls that a recorded sweep makes.

    If the whole rule equals a line of the table, the result is a single call.

    >>> to_recorded_formula("g * (1 - z * z)")
    'tanh_share(z, g)'

    Args:
        rule_text: The formula of the rule.

    Returns:
        The new formula, in the form that :func:`replace_operators_with_calls` returns.
    """
    return replace_operators_with_calls(_FORMULAS_IN_TABLE.get(rule_text, rule_text))


def select_formulas_for_value_kind(primitive_code: int, value: Array) -> Form:
    """Return the compiled formulas of an elementwise operation for one kind of value.

    There is a form for each scalar type, a form for large arrays, and a form for all other arrays.

    Args:
        primitive_code: The code of the operation.
        value: A value of this kind.
    """
    kind = type(value)
    if kind is np.ndarray:
        return LARGE_FORMS[primitive_code] if value.size >= LARGE else ARRAY_FORMS[primitive_code]
    if kind not in SCALAR:
        return ARRAY_FORMS[primitive_code]
    if kind not in _FORMS_BY_TYPE:
        _FORMS_BY_TYPE[kind] = [_NO_FORM] * FIRST_CODE + [Form(p.texts, SCALAR[kind]) for p in BY_CODE]
    return _FORMS_BY_TYPE[kind][primitive_code]


RECORDED_FUNCTIONS: FunctionsByName = {}
