"""The words for a gradient that is there, and zero or not finite: what happened at an operation, and what fixes that.

In the sentences {x} is the source, {line} the place in brackets, {what} the operation, {other} what a leaf is called,
{values} the numbers there; {functions} are those of the framework that fix it.
"""

from __future__ import annotations

from .replay import EAGERLY

Texts = dict[str, tuple[str, str]]
TENSOR = "the tensor"  # one without a name

ARRIVED: Texts = {  # of every framework
    "dead_relu": (
        "{what}{line} passes no gradient: the inputs that count here are negative.",
        "Use leaky_relu, gelu or softplus, a smaller learning rate, or a positive bias at the beginning.",
    ),
    "saturated": (
        "{what}{line} is flat at its input{values}. Its derivative there is zero.",
        "Make its input smaller (scale or normalize it), or work with the logits: {functions}",
    ),
    "not_selected": (
        "{what}{line} takes other elements than those of {x}.",
        "Use all elements (a mean, a softmax-weighted sum), or choose those that you want gradients for.",
    ),
    "not_selected part": (
        "The target uses other elements of what {what}{line} put together than those of {x}.",
        "Use all elements, or leave {x} out of what is differentiated.",
    ),
    "not_selected empty": (
        "{what}{line} was given no elements in this run.",
        "Ask about more steps: another batch may have some, as for an expert of a mixture that got no row of this one.",
    ),
    "zero_factor": (
        "{what}{line} multiplies by zeros, so what passes back is zero.",
        "Look at the other factor: weights that begin at zero, a mask without ones, or a coefficient of 0.",
    ),
    "zero_cancels": (
        "What comes back through {what}{line} cancels out. The result does not depend on {x}.",
        "Use a result that changes with {x}: for softmax or a normalization, not the sum or mean of all of it.",
    ),
    "zero_cancels one": (
        "{what}{line} of a single value is always 1.",
        "Use a sigmoid for one unit, or a unit for each class.",
    ),
    "zero_sum": (
        "What the uses of {x}{line} contribute to its gradient adds up to zero.",
        "Look at the signs: two uses of {x} cancel each other.",
    ),
    "zero_sum elements": (
        "What several elements{line} contribute to the gradient of {x} adds up to zero.",
        "Look at the signs: what some elements add, others take away.",
    ),
    "zero_factor underflow": (
        "The product in {what}{line} is too small for its type, and became zero.",
        "Compute in a wider type, or scale the loss: multiply it by a large number, and divide the gradients by it.",
    ),
    "nan_forward": ("{what}{line} gives {values}.", "Keep its input where it is finite: {functions}"),
    "nan_forward grown": (
        "{what}{line} gives {values}: the numbers of its input are too large by then.",
        "The values or the weights have grown: take a smaller learning rate or smaller initial weights, clip the norm "
        "of the gradient, or normalize between the layers or turns. The step before may show where it began.",
    ),
    "nan_forward hidden": (
        "{what}{line} gives {values}. The value is masked later, and its derivative still counts.",
        "Replace such elements before {what}, not only after it: {functions}",
    ),
    "nan_input": (
        "{other}{line} holds NaN or an infinity before anything is computed.",
        "Look at the data: {functions}",
    ),
    "nan_input trained": (
        "{other}{line} holds NaN or an infinity before anything is computed.",
        "If it is a weight, an earlier step made it so: record that one, and lower the learning rate or clip the "
        "gradient.",
    ),
    "nan_backward grown": (
        "What {what}{line} passes back is too large for its type.",
        "The gradient grows with each turn or layer: use smaller factors or weights or fewer turns, or normalize "
        "between them.",
    ),
    "nan_backward": (
        "The derivative of {what}{line} is infinite or NaN at its input{values}.",
        "Keep its input away from that point: {functions}",
    ),
}

OF_TENSORFLOW: Texts = {  # of a tape and of TensorFlow
    "zero_derivative": (
        "{what}{line} is constant in steps: its derivative is zero.",
        "Leave it out while training, or pass the gradient as if it were not there: x + "
        "tf.stop_gradient(tf.round(x) - x).",
    ),
    "zero_derivative point": (
        "The derivative of {what}{line} is zero at the values that it has.",
        "Begin elsewhere, or use a function that is smooth there: tf.nn.softplus for tf.abs.",
    ),
    "zero_derivative second": (
        "The second derivative of relu{line} is zero: it consists of straight lines.",
        "Use a function that bends: tf.nn.tanh, tf.nn.softplus or tf.nn.swish in place of relu.",
    ),
    "zero_seed": (
        "tape.gradient began with zeros{line}: its output_gradients are zero.",
        "Look at what output_gradients was made of. Without it, the gradient is that of the sum of the target.",
    ),
    "custom_rule": (
        "The tf.custom_gradient of {what}{line} gives zeros for this input.",
        "Look at its grad function: return the upstream gradient times the derivative, or the gradient itself "
        "where it should pass "
        "unchanged.",
    ),
}
OF_TAPE: Texts = {  # about a step, and calls of functions
    "zero_derivative function": ("The gradient of the tf.function that was called{line} is 0.", EAGERLY),
    "not_selected results": (
        "The target does not use what {what}{line} made of it.",
        "Use that result in the target, or leave it out of the sources.",
    ),
    "independent call": (
        "This call of {what}{line} did not use it.",
        "See whether the branch that uses it runs when you expect it to, or leave it out of the sources.",
    ),
}
FUNCTIONS = {
    "saturated": "from_logits=True, tf.nn.sigmoid_cross_entropy_with_logits.",
    "nan_forward": "tf.maximum(x, 1e-6) before log, sqrt and division, tf.math.divide_no_nan, tf.reduce_logsumexp "
    "instead of exp.",
    "nan_forward hidden": "tf.where(mask, x, 1.0), or tf.maximum(x, 1e-6).",
    "nan_input": "leave these rows out, or replace them with tf.where(tf.math.is_finite(x), x, 0.0).",
    "nan_backward": "tf.sqrt(x + 1e-12), tf.maximum(x, 1e-6). Where tf.where hides such elements, replace them "
    "before the function, too.",
}
