"""The words for a gradient of a tape that is there, and zero or not finite: what happened at an operation, and what
fixes that.

In the sentences {what} is the operation as the user knows it, {x} its first input, {g} the adjoint that came to it.
"""

from __future__ import annotations

from .replay import EAGERLY

_SATURATED = (
    "Make its input smaller: scale the data, begin with smaller weights, or take a loss of the logits "
    "themselves, such as "
    "tf.nn.softmax_cross_entropy_with_logits or sigmoid_cross_entropy_with_logits."
)
_TAKEN = (
    "The value that is not chosen gets no gradient. If it should get one, use tf.nn.leaky_relu(x) for "
    "tf.maximum(x, 0.0), or {}."
)
_START = "The slope is 0 at this very point: begin elsewhere, unless this is the minimum."
_SECOND = "Use a smooth activation, such as tanh, softplus or swish: second derivatives of this one are 0."
_WIDER = "Compute in float64, or scale the loss: multiply it by a large number, and divide the gradients by it."
_SCALE = (
    "Keep weights and gradients in float32, or scale the loss: multiply it by a large number, and divide the "
    "gradients by it."
)
_OTHERS = "Use all elements, such as a mean, or ask for the gradient of those that are taken."
_TERMS = "Look at the signs: the target may hold the same term twice, once added and once subtracted."

OF_ZERO = {  # an operation, or a cause and a kind of it: (why what it hands on is zero, what fixes that)
    "sign": ("sign is flat: its derivative is 0 everywhere", "Use tf.tanh(k * x), which has a slope."),
    "relu": (
        "relu passes nothing where its input is not positive (here {x})",
        "Begin with other weights or biases, take a smaller learning rate, or use tf.nn.leaky_relu.",
    ),
    "relu_gate": ("relu consists of straight lines, whose second derivative is 0", _SECOND),
    "leaky_gate": ("leaky_relu consists of straight lines, whose second derivative is 0", _SECOND),
    "pow": ("the power's derivative is 0 there (base {x})", _START),
    "square": ("the slope of a square is 0 at 0", _START),
    "abs": (
        "abs has a corner at 0, where the tape takes 0 for its slope",
        "Begin elsewhere, or use a function that is smooth there: tf.sqrt(x * x + 1e-12).",
    ),
    "maximum": ("the other value of maximum was the larger one", _TAKEN.format("tf.reduce_logsumexp([a, b], axis=0)")),
    "minimum": (
        "the other value of minimum was the smaller one",
        _TAKEN.format("-tf.reduce_logsumexp([-a, -b], axis=0)"),
    ),
    "select": ("tf.where took the other branch", "See whether the condition holds where you expect it to."),
    "clip_by_value": (
        "the value was clipped (here {x})",
        "Keep the value between the bounds, or leave the bounds out while training.",
    ),
    "relu6": ("relu6 is flat there (input {x})", "Use tf.nn.leaky_relu, or begin with smaller weights."),
    "exp": (
        "exp({x}) is too small for a float, and 0 in its place",
        "Keep the argument above -80, or compute with logarithms: the logarithm of a sum of exp is "
        "tf.reduce_logsumexp.",
    ),
    "softmax": ("softmax is saturated: one of the probabilities is 1 (input {x})", _SATURATED),
    "dropout": ("dropout dropped it", "Take a smaller rate, or leave dropout out, as training=False does."),
    "function": ("the gradient of the tf.function that was called is 0", EAGERLY),
    "zero_cancels softmax": (
        "the probabilities of softmax add up to 1, so that their sum has no slope",
        "Take the probability of one class, or a cross-entropy, in place of the sum.",
    ),
    "zero_cancels one": (
        "softmax of a single value is always 1",
        "Use tf.sigmoid for one unit, or a unit for each class.",
    ),
    "zero_factor underflow": ("the product of {x} and the adjoint {g} is too small for {dtype}", _WIDER),
    "zero_factor half": ("the product of {x} and the adjoint {g} is too small for {dtype}", _SCALE),
    "zero_sum elements": ("several elements use it, and what they contribute cancels out", _TERMS),
    "not_selected results": (
        "the target does not use what the function made of it",
        "Use that result in the target, or leave it out of the sources.",
    ),
    "not_selected part": ("the target uses another part of what {what} put together", _OTHERS),
    "zero_derivative": (
        "the derivative of {what} is 0 there",
        "Use a function with a slope there, or begin elsewhere.",
    ),
    "dead_relu": (
        "{what} passes nothing where its input is not positive (here {x})",
        "Use tf.nn.leaky_relu, or begin with other weights or biases.",
    ),
    "saturated": ("{what} is saturated (input {x})", _SATURATED),
    "not_selected": ("{what} took other elements", _OTHERS),
    "zero_factor": (
        "a factor of {what} is 0",
        "See where that 0 comes from: data, a mask, weights that begin with 0, an empty product.",
    ),
    "zero_cancels": (
        "both sides of {what} change alike with it",
        "Use a result that changes with it, or leave it out of the sources.",
    ),
    "zero_sum": ("what arrives along several paths cancels out", _TERMS),
    "independent": (
        "this call of the tf.function did not use it",
        "See whether the branch that uses it runs when you expect it to, or leave it out of the sources.",
    ),
    "custom_rule": ("the gradient function of {what} gives it 0", "Let it return a gradient for each input."),
}

_EDGE = "The derivative is infinite at 1 and -1: keep the argument between, x * (1 - 1e-6)."
_NORM = "The norm has no derivative at 0: use tf.sqrt(tf.reduce_sum(x * x) + 1e-12)."
CURES = {  # an operation, or the function that the user called: what fixes NaN and infinity
    "log": "Keep the argument away from 0: tf.math.log(x + 1e-7), or tf.maximum(x, 1e-7).",
    "log1p": "Keep the argument above -1.",
    "sqrt": "The derivative of sqrt is infinite at 0: add a small number inside, tf.sqrt(x + 1e-12).",
    "rsqrt": "Add a small number inside: tf.math.rsqrt(x + 1e-12).",
    "divide": "Divide by something that is never 0: x / (y + 1e-7), or use tf.math.divide_no_nan.",
    "reciprocal": "Keep the argument away from 0.",
    "pow": "Keep the base away from 0, or use another power.",
    "exp": "exp overflows for large arguments: subtract the maximum first, or use tf.nn.softmax, tf.reduce_logsumexp.",
    "reduce_euclidean_norm": _NORM,
    "norm": _NORM,
    "acos": _EDGE,
    "asin": _EDGE,
    "atanh": _EDGE,
    "acosh": "The derivative is infinite at 1: keep the argument above it.",
    "reduce_std": "The deviation has no derivative where all values are equal: use tf.sqrt(tf.math.reduce_variance(x) "
    "+ 1e-12).",
    "softmax": "Use tf.nn.log_softmax(x) in place of the logarithm of tf.nn.softmax(x), or a loss of the logits.",
    "sigmoid": "Use tf.math.log_sigmoid(x) in place of the logarithm of tf.sigmoid(x), or a loss of the logits.",
    "negative pow": "A negative number has no such power: use tf.abs(x), or keep the base positive.",
    "negative log": "A negative number has no logarithm: keep the argument positive, tf.math.log(tf.maximum(x, 1e-7)).",
    "negative sqrt": "A negative number has no root: keep the argument positive, tf.sqrt(tf.maximum(x, 1e-12)).",
    "data": "Clean the data first: tf.debugging.check_numerics(x, 'x') stops where they are not finite, "
    "tf.where(tf.math.is_finite(x), x, 0.0) replaces them.",
    "variable": "What was stored there was not finite: ask for that step's gradient first. A smaller learning rate, or "
    "tf.clip_by_norm of the gradients, keeps weights from growing without end.",
    "function": EAGERLY,
}
SMOOTH = "Keep the argument where the operation is smooth."
OVERFLOW = (
    "The number is too large for its type: use smaller factors or fewer turns of the loop, clip what grows, or compute "
    "with logarithms or in float64."
)
VALUE = "Fix the value before you differentiate."
WHERE = (
    "tf.where does not help here: the unused branch is differentiated, too, and 0 times infinity is NaN. "
    "Make its argument safe first: tf.where(ok, f(tf.where(ok, x, 1.0)), 0.0)."
)
RELEASED = (
    "The values of this tape were released, or it is too long, or no target depends on a source: the sweep "
    "cannot be run again."
)
