"""Describe the causes of gradients that exist but are zero or not finite."""

from ..fixes import edits as edit
from ..fixes import numeric_fixes as number
from .cause import Cause

CAUSES = (
    Cause(
        "zero_derivative",
        "zero",
        """
        [tape, tensorflow]
        {what}{line} is a step function, so its derivative is zero.
        Fix: Leave out the operation during training, or use the straight-through estimator: x +
        tf.stop_gradient(tf.round(x) - x).

        [torch, jax]
        {what}{line} is a step function, so its derivative is zero everywhere.
        Fix in torch: Leave {what} out during training, or use the straight-through estimator: x + ({what}(x) -
        x).detach().
        Fix in jax: Leave out the operation during training, or use the straight-through estimator: x +
        lax.stop_gradient(jnp.round(x) - x).

        [tape: function]
        The gradient of the tf.function that was called{line} is 0.
        Fix: Call tf.config.run_functions_eagerly(True) before the function runs, and try again. The explanation can
        then name the operation.

        [tape, tensorflow: point]
        The derivative of {what}{line} is zero at its input values.
        Fix: Start from different values, or use a function that is smooth there, such as tf.nn.softplus instead of
        tf.abs.

        [tape, tensorflow: second]
        The second derivative of relu{line} is zero, because relu is piecewise linear.
        Fix: Use a function with a nonzero second derivative, such as tf.nn.tanh or tf.nn.softplus, instead of relu.

        [jax: second]
        The second derivative of {what}{line} is zero, because the function is piecewise linear.
        Fix: Use a smooth activation function if you need second derivatives: jnp.tanh, jax.nn.softplus or jax.nn.swish.

        [torch: nearest]
        {what}{line} takes the nearest element, so its derivative is zero.
        Fix: Interpolate between the neighboring elements: write mode="bilinear".

        [torch: sampled]
        {what}{line} draws a sample, and autograd sends zero gradients back to the parameters of the distribution.
        Fix: Draw the sample with the rsample() method of a torch.distributions object, or compute it as mean + std *
        torch.randn_like(std).
        """,
        edits=(edit.replace_sample_by_rsample,),
    ),
    Cause(
        "dead_relu",
        "zero",
        """
        [all]
        {what}{line} passes no gradient back, because the relevant inputs are negative.
        Fix: Use leaky_relu, gelu or softplus, lower the learning rate, or start with a positive bias.

        [torch: run]
        The gradients of {n} parameters of this optimizer{line} have become exactly zero, and only the last parameter
        still gets one. This happens if every unit of a ReLU layer is dead: its input is negative for all examples, so
        nothing before that layer can learn any more.
        Fix: Use a learning rate smaller than {rate:g}, or leaky_relu or gelu, or normalize the input of the layer.
        """,
    ),
    Cause(
        "saturated",
        "zero",
        """
        [all]
        {what}{line} is flat at its input{values}, so its derivative there is zero.
        Fix: Make its input smaller by scaling or normalizing it, or work with logits: {functions}
        Functions in tape, tensorflow: use from_logits=True or tf.nn.sigmoid_cross_entropy_with_logits.
        Functions in torch: use cross_entropy, binary_cross_entropy_with_logits or logsigmoid.
        Functions in jax: use jax.nn.log_softmax or jax.nn.log_sigmoid.
        """,
    ),
    Cause(
        "not_selected",
        "zero",
        """
        [all]
        {what}{line} selects elements that do not come from {x}.
        Fix: Use all elements, for example in a mean or a softmax-weighted sum, or select the elements that need
        gradients.

        [tape: results]
        The target does not use the result of {what}{line}.
        Fix: Use that result in the target, or leave {x} out of the sources.

        [all: part]
        {what}{line} uses {x}, but the target uses only elements of the result that do not come from {x}.
        Fix: Use all elements, or do not differentiate with respect to {x}.

        [all: empty]
        {what}{line} received an empty input in this run.
        Fix: Ask about more steps. In another batch, the input may not be empty. For example, an expert in a mixture of
        experts may receive no rows of this batch.
        """,
    ),
    Cause(
        "zero_factor",
        "zero",
        """
        [all]
        {what}{line} multiplies by zeros, so the gradient that it passes back is zero.
        Fix: Check the other factor. It may be a weight that starts at zero, a mask without ones, or a coefficient of 0.

        [all: both]
        All inputs of {what}{line} are exactly zero, so the gradient that it passes back to each of them is zero.
        Fix: If two parameters that start at zero are multiplied here, neither can ever change, because each is the
        factor of the other. Start one of them with random values, and only the other with zeros.

        [torch: start]
        {what}{other} multiplies by zeros, so the gradient that it passes back is zero. The zeros come from a parameter
        that was created or initialized{line} and is still zero.
        Fix: Start this parameter with random values. If two parameters are multiplied with each other, only one of them
        may start with zeros.

        [all: underflow]
        The product in {what}{line} is too small for its dtype and underflowed to zero.
        Fix: Compute in a wider dtype, or scale the loss: multiply the loss by a large number, and divide the gradients
        by the same number.
        """,
    ),
    Cause(
        "zero_cancels",
        "zero",
        """
        [all]
        The gradients that come back through {what}{line} cancel out, because the result does not depend on {x}.
        Fix: Use a result that changes with {x}. The sum or mean of all outputs of a softmax or a normalization is the
            same for every input.

        [all: one]
        {what}{line} is computed over a single value, so its result is the same for every value.
        Fix: Use a sigmoid for a single unit, or use one unit for each class.
        """,
    ),
    Cause(
        "zero_sum",
        "zero",
        """
        [all]
        The different uses of {x}{line} contribute to its gradient, but their contributions add up to zero.
        Fix: Check the signs, because two uses of {x} cancel each other out.

        [all: elements]
        The contributions of several elements{line} to the gradient of {x} add up to zero.
        Fix: Check the signs, because the contributions of the elements cancel each other out.
        """,
    ),
    Cause(
        "zero_seed",
        "zero",
        """
        [tape, tensorflow]
        tape.gradient started with zeros{line}, because its output_gradients are zero.
        Fix: Check how output_gradients was computed. Without output_gradients, tape.gradient computes the gradient of
        the sum of the target.

        [torch]
        backward() started with a zero gradient{line}.
        Fix: Check how the argument of backward() was computed. Without an argument, the target must be a single number,
        such as a sum or mean.
        """,
    ),
    Cause(
        "hook",
        "zero",
        """
        [torch]
        A hook on {what}{line} set the gradient to zero.
        Fix: Make the hook return the gradient that should be passed on, or remove the hook.
        """,
    ),
    Cause(
        "nan_input",
        "nonfinite",
        """
        [all]
        {other}{line} contains NaN or an infinity before anything is computed.
        Fix: Check the data: {functions}
        Functions in tape, tensorflow: leave out the affected rows, or replace the values with tf.where(tf.abs(x) <
        1e30, x, 0.0).
        Functions in torch: use torch.nan_to_num, or leave out the affected rows.
        Functions in jax: use jnp.nan_to_num, or leave out the affected rows.

        [all: trained]
        Fix: If this is a weight, an earlier step produced the value. Record that step, and lower the learning rate or
        clip the gradient.

        [all: masked]
        {what}{line} computes with the NaN or infinite elements of {other}. The program masks them only afterwards, but
        their derivative still reaches the weights, and 0 times NaN is NaN.
        Fix: Replace these elements before {what}, and mask the result as well: {functions}
        Functions in tape, tensorflow: use tf.where(mask, x, 0.0).
        Functions in torch: use torch.where(mask, x, 0.0) or torch.nan_to_num.
        Functions in jax: use jnp.where(mask, x, 0.0) or jnp.nan_to_num.
        """,
    ),
    Cause(
        "nan_forward",
        "nonfinite",
        """
        [all]
        {what}{line} produces {values}.
        Fix: Keep its input in the range where the result is finite: {functions}
        Functions in tape, tensorflow: use tf.maximum(x, 1e-6) before log, sqrt or a division, tf.math.divide_no_nan for
        a division, or tf.nn.log_softmax instead of exp.
        Functions in torch: use torch.clamp(x, min=1e-6) before log, sqrt or a division, or logsumexp or log_softmax
        instead of exp.
        Functions in jax: use jnp.maximum(x, 1e-6) before log, sqrt or a division, or jax.nn.logsumexp or jax.nn.softmax
        instead of exp.

        [all: grown]
        {what}{line} produces {values}, because its input has grown too large.
        Fix: The values or the weights have grown. Use a smaller learning rate or smaller initial weights, clip the
        gradient norm, or normalize between the layers or iterations. The previous step may show where the growth began.

        [all: hidden]
        {what}{line} produces {values}. The value is masked later, but its derivative still contributes to the gradient.
        Fix: Replace such elements before {what}, not only after it: {functions}
        Functions in tape, tensorflow: use tf.where(mask, x, 1.0) or tf.maximum(x, 1e-6).
        Functions in torch: use torch.where(mask, x, 1.0) or torch.clamp(x, min=1e-6).
        Functions in jax: use jnp.where(mask, x, 1.0) or jnp.maximum(x, 1e-6).

        [torch: half]
        The result of {what}{line} is too large for float16, whose largest number is 65504.
        Fix: Compute this line with float32 inputs (x.float(), outside autocast), or with dtype=torch.bfloat16.

        [all: masked]
        {what}{line} returns infinities, and {other} turns them into NaN.
        Fix: If all elements of a row are -inf, softmax divides 0 by 0. Leave at least one element in each row unmasked,
        or mask with a large negative number such as -1e9.
        """,
        edits=(
            number.restrict_edit_to_input_with_minimum_zero(
                edit.build_operand_edit("{x} + 1e-06", "log", "log2", "log10", "rsqrt", "reciprocal")
            ),
            number.restrict_edit_to_input_with_minimum_zero(edit.build_operand_edit("{x} + 1e-06", "div"), -1),
        ),
    ),
    Cause(
        "nan_backward",
        "nonfinite",
        """
        [all]
        The derivative of {what}{line} is infinite or NaN at its input{values}.
        Fix: Keep its input away from that point: {functions}
        Functions in tape, tensorflow: use tf.sqrt(x + 1e-12) or tf.maximum(x, 1e-6). If tf.where hides such elements,
        also replace them before they reach the function.
        Functions in torch: use torch.sqrt(x + 1e-12) or torch.clamp(x, min=1e-6). If torch.where hides such elements,
        replace them before they reach the function: {what}(torch.where(mask, x, 1.0)).
        Functions in jax: use jnp.sqrt(x + 1e-12) or jnp.maximum(x, 1e-6). If jnp.where hides such elements, also
        replace them before they reach the function.

        [all: grown]
        The gradient that {what}{line} passes back is too large for its dtype.
        Fix: The gradient grows with each iteration or layer. Use smaller factors or weights, use fewer iterations, or
        normalize between them.
        """,
        edits=(
            number.restrict_edit_to_nonzero_operation_result(edit.build_operand_edit("{x} + 1e-12", "sqrt")),
            number.restrict_edit_to_input_with_minimum_zero(edit.build_operand_edit("{x} + 1e-06", "pow")),
        ),
    ),
    Cause(
        "nonfinite_value",
        "nonfinite",
        """
        [torch, tensorflow, jax]
        {what}{line} is the first result that is NaN or infinite. All its inputs are finite.
        Fix: Check its inputs in this step: print their smallest and largest elements before this line.

        [tensorflow, jax: step]
        Step {n} is the first step with a loss or a gradient that is NaN or infinite, but no recording shows why.
        Fix: Run minitape explain --steps {n}, so that this step is recorded as well.

        [torch, tensorflow, jax: log]
        Fix in torch: Keep its input above zero, for example with torch.clamp(x, min=1e-6).
        Fix in tensorflow: Keep its input above zero, for example with tf.maximum(x, 1e-6).
        Fix in jax: Keep its input above zero, for example with jnp.maximum(x, 1e-6).

        [torch, tensorflow, jax: division]
        Fix: Keep the divisor away from zero: add a small number to it.

        [torch, tensorflow, jax: root]
        Fix: Keep its input at or above zero.

        [torch, tensorflow, jax: exponential]
        Fix in torch: Its input is too large: subtract the maximum first, or use torch.logsumexp.
        Fix in tensorflow: Its input is too large: subtract the maximum first, or use tf.reduce_logsumexp.
        Fix in jax: Its input is too large: subtract the maximum first, or use jax.nn.logsumexp.

        [torch: no_target]
        Fix: No target counts here, for example because all of them are ignore_index, so the mean is 0 divided by 0.
        Leave out such batches, or write reduction='sum' and divide by at least 1.

        [torch: ctc]
        Fix: The target is too long for its input. Write zero_infinity=True, or leave out such samples.

        [torch: empty]
        Fix: If the result is NaN, its input has too few elements, so leave out empty batches and groups with only one
        element. If the result is infinite, the sum of its elements is too large for their dtype.

        [torch, tensorflow, jax: masked]
        Fix: A whole row is masked with -inf. Leave at least one element in each row unmasked, or mask with a large
        negative number such as -1e4.

        [torch, tensorflow, jax: inverse]
        Fix in torch: Clip its input to the open interval: x.clamp(-1 + 1e-6, 1 - 1e-6).
        Fix in tensorflow: Clip its input to the open interval: tf.clip_by_value(x, -1 + 1e-6, 1 - 1e-6).
        Fix in jax: Clip its input to the open interval: jnp.clip(x, -1 + 1e-6, 1 - 1e-6).

        [torch: length]
        Fix: The norm of its input is zero. Pass eps=, or add a small number.
        """,
    ),
)
