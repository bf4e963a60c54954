"""Describe the causes of gradients that exist but are zero or not finite."""

from __future__ import annotations

from ..fixes import edits as edit
from ..fixes import numeric_fixes as number
from .cause import Cause

CAUSES = (
    Cause(
        "zero_derivative",
        "zero",
        """
        [tape, tensorflow]
        {what}{line} is constant in steps: its derivative is zero.
        Fix: Leave it out while training, or pass the gradient as if it were not there: x +
        tf.stop_gradient(tf.round(x) - x).

        [torch, jax]
        {what}{line} is constant in steps: its derivative is zero everywhere.
        Fix in torch: Leave {what} out while training, or pass the gradient as if it were not there: x + ({what}(x)
        - x).detach().
        Fix in jax: Leave it out while training, or pass the gradient as if it were not there: x +
        lax.stop_gradient(jnp.round(x) - x).

        [tape: function]
        The gradient of the tf.function that was called{line} is 0.
        Fix: Call tf.config.run_functions_eagerly(True) before it, and ask again: then the operation has a name.

        [tape, tensorflow: point]
        The derivative of {what}{line} is zero at the values that it has.
        Fix: Begin elsewhere, or use a function that is smooth there: tf.nn.softplus for tf.abs.

        [tape, tensorflow: second]
        The second derivative of relu{line} is zero: it consists of straight lines.
        Fix: Use a function that bends: tf.nn.tanh or tf.nn.softplus in place of relu.

        [jax: second]
        The second derivative of {what}{line} is zero: it consists of straight lines.
        Fix: Use a smooth activation where second derivatives are needed: jnp.tanh, jax.nn.softplus or jax.nn.swish.

        [torch: nearest]
        {what}{line} takes the nearest element, so that its derivative is zero.
        Fix: Mix the neighbours: write mode="bilinear".

        [torch: sampled]
        {what}{line} draws a sample, and autograd sends zeros back to what it was drawn with.
        Fix: Draw it with rsample() of torch.distributions, or as mean + std * torch.randn_like(std).
        """,
        edits=(
            number.pass_straight_through,
            edit.sample_with_gradient,
        ),
    ),
    Cause(
        "dead_relu",
        "zero",
        """
        [all]
        {what}{line} passes no gradient: the inputs that count here are negative.
        Fix: Use leaky_relu, gelu or softplus, a smaller learning rate, or a positive bias at the beginning.
        """,
    ),
    Cause(
        "saturated",
        "zero",
        """
        [all]
        {what}{line} is flat at its input{values}. Its derivative there is zero.
        Fix: Make its input smaller (scale or normalize it), or work with the logits: {functions}
        Functions in tape, tensorflow: from_logits=True, tf.nn.sigmoid_cross_entropy_with_logits.
        Functions in torch: cross_entropy, binary_cross_entropy_with_logits, logsigmoid.
        Functions in jax: jax.nn.log_softmax, jax.nn.log_sigmoid.
        """,
    ),
    Cause(
        "not_selected",
        "zero",
        """
        [all]
        {what}{line} takes other elements than those of {x}.
        Fix: Use all elements (a mean, a softmax-weighted sum), or choose those that you want gradients for.

        [tape: results]
        The target does not use what {what}{line} made of it.
        Fix: Use that result in the target, or leave it out of the sources.

        [all: part]
        The target uses other elements of what {what}{line} put together than those of {x}.
        Fix: Use all elements, or leave {x} out of what is differentiated.

        [all: empty]
        {what}{line} was given no elements in this run.
        Fix: Ask about more steps: another batch may have some, as for an expert of a mixture that got no row of
        this one.
        """,
    ),
    Cause(
        "zero_factor",
        "zero",
        """
        [all]
        {what}{line} multiplies by zeros, so what passes back is zero.
        Fix: Look at the other factor: weights that begin at zero, a mask without ones, or a coefficient of 0.

        [all: underflow]
        The product in {what}{line} is too small for its type, and became zero.
        Fix: Compute in a wider type, or scale the loss: multiply it by a large number, and divide the gradients by
        it.
        """,
    ),
    Cause(
        "zero_cancels",
        "zero",
        """
        [all]
        What comes back through {what}{line} cancels out. The result does not depend on {x}.
        Fix: Use a result that changes with {x}: for softmax or a normalization, not the sum or mean of all of it.

        [tape, torch, tensorflow: one]
        {what}{line} of a single value is always 1.
        Fix: Use a sigmoid for one unit, or a unit for each class.

        [jax: one]
        {what}{line} is taken over a single value: it is the same for any.
        Fix: Use a sigmoid for one unit, or a unit for each class.
        """,
    ),
    Cause(
        "zero_sum",
        "zero",
        """
        [all]
        What the uses of {x}{line} contribute to its gradient adds up to zero.
        Fix: Look at the signs: two uses of {x} cancel each other.

        [all: elements]
        What several elements{line} contribute to the gradient of {x} adds up to zero.
        Fix: Look at the signs: what some elements add, others take away.
        """,
    ),
    Cause(
        "zero_seed",
        "zero",
        """
        [tape, tensorflow]
        tape.gradient began with zeros{line}: its output_gradients are zero.
        Fix: Look at what output_gradients was made of. Without it, the gradient is that of the sum of the target.

        [torch]
        backward() began with zeros{line}.
        Fix: Look at what its argument was made of. Without one, the target must be one number: a sum or mean.
        """,
    ),
    Cause(
        "hook",
        "zero",
        """
        [torch]
        A hook on {what}{line} made the gradient zero.
        Fix: Return from the hook what should pass on, or leave it out.
        """,
    ),
    Cause(
        "nan_input",
        "nonfinite",
        """
        [all]
        {other}{line} holds NaN or an infinity before anything is computed.
        Fix: Look at the data: {functions}
        Functions in tape, tensorflow: leave these rows out, or replace them with tf.where(tf.abs(x) < 1e30, x,
        0.0).
        Functions in torch: torch.nan_to_num, or leave these rows out.
        Functions in jax: jnp.nan_to_num, or leave these rows out.

        [all: trained]
        Fix: If it is a weight, an earlier step made it so: record that one, and lower the learning rate or clip the
        gradient.
        """,
    ),
    Cause(
        "nan_forward",
        "nonfinite",
        """
        [all]
        {what}{line} gives {values}.
        Fix: Keep its input where it is finite: {functions}
        Functions in tape, tensorflow: tf.maximum(x, 1e-6) before log, sqrt and division, tf.math.divide_no_nan,
        tf.nn.log_softmax instead of exp.
        Functions in torch: torch.clamp(x, min=1e-6) before log, sqrt and division, logsumexp or log_softmax instead
        of exp.
        Functions in jax: jnp.maximum(x, 1e-6) before log, sqrt and division, jax.nn.logsumexp or jax.nn.softmax
        instead of exp.

        [all: grown]
        {what}{line} gives {values}: the numbers of its input are too large by then.
        Fix: The values or the weights have grown: take a smaller learning rate or smaller initial weights, clip the
        norm of the gradient, or normalize between the layers or turns. The step before may show where it began.

        [all: hidden]
        {what}{line} gives {values}. The value is masked later, and its derivative still counts.
        Fix: Replace such elements before {what}, not only after it: {functions}
        Functions in tape, tensorflow: tf.where(mask, x, 1.0), or tf.maximum(x, 1e-6).
        Functions in torch: torch.where(mask, x, 1.0), or torch.clamp(x, min=1e-6).
        Functions in jax: jnp.where(mask, x, 1.0), or jnp.maximum(x, 1e-6).

        [torch: half]
        The result of {what}{line} is too large for float16, whose largest number is 65504.
        Fix: Compute this line with float32 inputs (x.float(), outside of autocast), or with dtype=torch.bfloat16.

        [torch: alone]
        {what}{line} of one element divides 0 by 0: by the number of elements less one.
        Fix: Leave out groups of one (drop_last=True in a DataLoader), or write unbiased=False where no gradient has
        to pass here.
        """,
        edits=(
            edit.repeat_where_around_operand("log", "log2", "log10", "sqrt", "rsqrt", "div", "pow"),
            number.require_zero_input(
                edit.replace_operand("{x} + 1e-06", "log", "log2", "log10", "rsqrt", "reciprocal")
            ),
            number.require_zero_input(edit.replace_operand("{x} + 1e-06", "div"), -1),
        ),
    ),
    Cause(
        "nan_backward",
        "nonfinite",
        """
        [all]
        The derivative of {what}{line} is infinite or NaN at its input{values}.
        Fix: Keep its input away from that point: {functions}
        Functions in tape, tensorflow: tf.sqrt(x + 1e-12), tf.maximum(x, 1e-6). Where tf.where hides such elements,
        replace them before the function, too.
        Functions in torch: torch.sqrt(x + 1e-12), torch.clamp(x, min=1e-6). Where torch.where hides such elements,
        replace them before the function: {what}(torch.where(mask, x, 1.0)).
        Functions in jax: jnp.sqrt(x + 1e-12), jnp.maximum(x, 1e-6). Where jnp.where hides such elements, replace
        them before the function, too.

        [all: grown]
        What {what}{line} passes back is too large for its type.
        Fix: The gradient grows with each turn or layer: use smaller factors or weights or fewer turns, or normalize
        between them.
        """,
        edits=(
            edit.repeat_where_around_operand("sqrt", "pow", "norm", "log", "div"),
            number.require_nonzero_result(edit.replace_operand("{x} + 1e-12", "sqrt")),
            number.exclude_tensorflow(edit.replace_operand("{x} + 1e-12", "norm", "vector_norm")),
            number.require_zero_input(edit.replace_operand("{x} + 1e-06", "pow")),
        ),
    ),
    Cause(
        "nonfinite_value",
        "nonfinite",
        """
        [torch, tensorflow, jax]
        {what}{line} is the first result that is NaN or infinite. All its inputs are finite.
        Fix: Look at its inputs in this step: print their smallest and largest elements before this line.

        [tensorflow, jax: step]
        Step {n} is the first with a loss or a gradient that is NaN or infinite, and no recording shows why.
        Fix: Run minitape explain --steps {n}, so that this step is recorded as well.

        [torch, tensorflow, jax: log]
        Fix in torch: Keep its input above zero, such as with torch.clamp(x, min=1e-6).
        Fix in tensorflow: Keep its input above zero, such as with tf.maximum(x, 1e-6).
        Fix in jax: Keep its input above zero, such as with jnp.maximum(x, 1e-6).

        [torch, tensorflow, jax: division]
        Fix: Keep the divisor away from zero: add a small number to it.

        [torch, tensorflow, jax: root]
        Fix: Keep its input at or above zero.

        [torch, tensorflow, jax: exponential]
        Fix in torch: Its input is too large: subtract the maximum first, or use torch.logsumexp.
        Fix in tensorflow: Its input is too large: subtract the maximum first, or use tf.reduce_logsumexp.
        Fix in jax: Its input is too large: subtract the maximum first, or use jax.nn.logsumexp.

        [torch: no_target]
        Fix: No target counts here, such as when all are ignore_index, so that the mean is 0 divided by 0. Leave
        out such batches, or write reduction='sum' and divide by at least 1.

        [torch: ctc]
        Fix: The target does not fit into the input's length: write zero_infinity=True, or leave such samples
        out.

        [torch: empty]
        Fix: It has too few elements, and divides by zero. Leave out empty batches and groups of one.

        [torch, tensorflow, jax: masked]
        Fix: A row is masked as a whole with -inf: let each row keep one element, or mask with a large finite
        number such as -1e4.

        [torch, tensorflow, jax: inverse]
        Fix in torch: Clip its input to the open interval: x.clamp(-1 + 1e-6, 1 - 1e-6).
        Fix in tensorflow: Clip its input to the open interval: tf.clip_by_value(x, -1 + 1e-6, 1 - 1e-6).
        Fix in jax: Clip its input to the open interval: jnp.clip(x, -1 + 1e-6, 1 - 1e-6).

        [torch: length]
        Fix: Its input has length zero: pass eps=, or add a small number.
        """,
    ),
)
