"""Sentences for a gradient that exists and is zero or not finite: what happened at an operation, and how to fix it.

The fields of the sentences are:

* {x}: the source;
* {line}: the place in brackets;
* {what}: the operation;
* {other}: the name of a leaf;
* {values}: the numbers at the operation;
* {functions}: the framework's functions that fix it.
"""

from __future__ import annotations

from .cause_texts import Texts, parse_sentence_table
from .replayed_sweep import RUN_EAGERLY_FIX

UNNAMED_TENSOR = "the tensor"  # Stands for a tensor that has no name.

# Every framework uses these sentences.
VALUE_TEXTS = parse_sentence_table(
    """
dead_relu
{what}{line} passes no gradient: the inputs that count here are negative.
Fix: Use leaky_relu, gelu or softplus, a smaller learning rate, or a positive bias at the beginning.

saturated
{what}{line} is flat at its input{values}. Its derivative there is zero.
Fix: Make its input smaller (scale or normalize it), or work with the logits: {functions}

not_selected
{what}{line} takes other elements than those of {x}.
Fix: Use all elements (a mean, a softmax-weighted sum), or choose those that you want gradients for.

not_selected part
The target uses other elements of what {what}{line} put together than those of {x}.
Fix: Use all elements, or leave {x} out of what is differentiated.

not_selected empty
{what}{line} was given no elements in this run.
Fix: Ask about more steps: another batch may have some, as for an expert of a mixture that got no row of this one.

zero_factor
{what}{line} multiplies by zeros, so what passes back is zero.
Fix: Look at the other factor: weights that begin at zero, a mask without ones, or a coefficient of 0.

zero_cancels
What comes back through {what}{line} cancels out. The result does not depend on {x}.
Fix: Use a result that changes with {x}: for softmax or a normalization, not the sum or mean of all of it.

zero_cancels one
{what}{line} of a single value is always 1.
Fix: Use a sigmoid for one unit, or a unit for each class.

zero_sum
What the uses of {x}{line} contribute to its gradient adds up to zero.
Fix: Look at the signs: two uses of {x} cancel each other.

zero_sum elements
What several elements{line} contribute to the gradient of {x} adds up to zero.
Fix: Look at the signs: what some elements add, others take away.

zero_factor underflow
The product in {what}{line} is too small for its type, and became zero.
Fix: Compute in a wider type, or scale the loss: multiply it by a large number, and divide the gradients by it.

nan_forward
{what}{line} gives {values}.
Fix: Keep its input where it is finite: {functions}

nan_forward grown
{what}{line} gives {values}: the numbers of its input are too large by then.
Fix: The values or the weights have grown: take a smaller learning rate or smaller initial weights, clip the norm of the
gradient, or normalize between the layers or turns. The step before may show where it began.

nan_forward hidden
{what}{line} gives {values}. The value is masked later, and its derivative still counts.
Fix: Replace such elements before {what}, not only after it: {functions}

nan_input
{other}{line} holds NaN or an infinity before anything is computed.
Fix: Look at the data: {functions}

nan_input trained
Fix: If it is a weight, an earlier step made it so: record that one, and lower the learning rate or clip the gradient.

nan_backward grown
What {what}{line} passes back is too large for its type.
Fix: The gradient grows with each turn or layer: use smaller factors or weights or fewer turns, or normalize between
them.

nan_backward
The derivative of {what}{line} is infinite or NaN at its input{values}.
Fix: Keep its input away from that point: {functions}
"""
)
# minitape's own tape and TensorFlow use these sentences.
TENSORFLOW_VALUE_TEXTS = parse_sentence_table(
    """
zero_derivative
{what}{line} is constant in steps: its derivative is zero.
Fix: Leave it out while training, or pass the gradient as if it were not there: x + tf.stop_gradient(tf.round(x) - x).

zero_derivative point
The derivative of {what}{line} is zero at the values that it has.
Fix: Begin elsewhere, or use a function that is smooth there: tf.nn.softplus for tf.abs.

zero_derivative second
The second derivative of relu{line} is zero: it consists of straight lines.
Fix: Use a function that bends: tf.nn.tanh or tf.nn.softplus in place of relu.

zero_seed
tape.gradient began with zeros{line}: its output_gradients are zero.
Fix: Look at what output_gradients was made of. Without it, the gradient is that of the sum of the target.

custom_rule none
The gradient function of {what}{line} returns None for what came from {x}.
Fix: Return a gradient for each input of {what} from it.

custom_rule
The tf.custom_gradient of {what}{line} gives zeros for this input.
Fix: Look at its grad function: return the upstream gradient times the derivative, or the gradient itself where it
should pass unchanged.
"""
)
# Only minitape's own tape uses these sentences, about calls of functions.
TAPE_VALUE_TEXTS: Texts = {
    "zero_derivative function": ("The gradient of the tf.function that was called{line} is 0.", RUN_EAGERLY_FIX)
} | parse_sentence_table(
    """
not_selected results
The target does not use what {what}{line} made of it.
Fix: Use that result in the target, or leave it out of the sources.

independent call
This call of {what}{line} did not use it.
Fix: See whether the branch that uses it runs when you expect it to, or leave it out of the sources.
"""
)
FIX_FUNCTIONS = {
    "saturated": "from_logits=True, tf.nn.sigmoid_cross_entropy_with_logits.",
    "nan_forward": "tf.maximum(x, 1e-6) before log, sqrt and division, tf.math.divide_no_nan, "
    "tf.nn.log_softmax instead of exp.",
    "nan_forward hidden": "tf.where(mask, x, 1.0), or tf.maximum(x, 1e-6).",
    "nan_input": "leave these rows out, or replace them with tf.where(tf.abs(x) < 1e30, x, 0.0).",
    "nan_backward": "tf.sqrt(x + 1e-12), tf.maximum(x, 1e-6). Where tf.where hides such elements, replace them "
    "before the function, too.",
}
