"""Describe the causes that break the path from the source to the target."""

from __future__ import annotations

from ..fixes import block_fixes as block
from ..fixes import edits as edit
from ..fixes import numeric_fixes as number
from .cause import Cause

CAUSES = (
    Cause(
        "stop_gradient",
        "cut",
        """
        [tape, tensorflow]
        tf.stop_gradient{line} blocks the gradient from the target to {x}.
        Fix: Leave out tf.stop_gradient, or apply it only to the part that should count as a constant.

        [jax]
        lax.stop_gradient{line} blocks the gradient from the result to {x}.
        Fix: Leave out stop_gradient, or apply it only to the part that should count as a constant.
        """,
        edits=(edit.unwrap_call("stop_gradient"),),
    ),
    Cause(
        "detach",
        "cut",
        """
        [torch]
        {what}{line} blocks the gradient from the target to {x}.
        Fix: Leave out .detach(), or apply it only to the part that should count as a constant.
        """,
        edits=(edit.unwrap_call("detach", "detach_"),),
    ),
    Cause(
        "data",
        "cut",
        """
        [torch]
        .data{line} gives values without their history. The path from {x} to the target ends there.
        Fix: Leave out .data, and use the tensor itself. To change a parameter in place, write it under
        torch.no_grad().
        """,
        edits=(edit.unwrap_call("data"),),
    ),
    Cause(
        "copied",
        "cut",
        """
        [torch]
        torch.{what}(...){line} makes a new tensor from the values. It does not know where they came from.
        Fix: Leave it out: use the tensor itself, and torch.stack([...]) for a list of tensors.

        [torch: wrapped]
        A new leaf was made{line} of the values. nn.Parameter(t) and Variable(t) do not know where they came from.
        Fix: Use the tensor itself; as the weight of a module with torch.func.functional_call.
        """,
        edits=(edit.reuse_tensor_for_copy,),
    ),
    Cause(
        "recording_paused",
        "paused",
        """
        [tape]
        The tape was inside {function}() when this ran{line}, so it was not recorded.
        Fix: Move the line out of the {function}() block, or leave that with statement out.

        [tensorflow]
        The tape was paused when {what}{line} ran. stop_recording() and tf.init_scope() pause it.
        Fix: Move the line out of that block.

        [tape: watch]
        tape.watch{line} was called inside stop_recording(), where it has no effect.
        Fix: Call tape.watch({x}) outside the stop_recording() block, before {x} is used.
        """,
        plans=(block.remove_block_naming("stop_recording", "init_scope"),),
    ),
    Cause(
        "no_grad",
        "paused",
        """
        [torch]
        {what}{line} ran under torch.no_grad(), so autograd did not record it.
        Fix: Move the line out of the no_grad block (or off the function's decorator): only what needs no gradient
        belongs there.

        [torch: drawn]
        {what}(){line} draws under torch.no_grad(). No gradient passes the draw.
        Fix: Draw with rsample(), which passes the gradient on. Where the distribution has none, keep the draw, and
        train with -(distribution.log_prob(draw) * reward).mean().

        [torch: source]
        {x} was made by {what}{line} under torch.no_grad(). It is a new tensor without requires_grad.
        Fix: Change the parameter in place (w.sub_(lr * w.grad), under torch.no_grad()), or write .requires_grad_()
        after the line.
        """,
        edits=(
            edit.update_instead_of_rebinding,
            edit.sample_with_gradient,
            edit.set_keyword("use_reentrant", False, "checkpoint"),
        ),
        plans=(block.remove_block_naming("no_grad", "inference_mode"),),
    ),
    Cause(
        "inference_mode",
        "paused",
        """
        [torch]
        {what}{line} ran under torch.inference_mode(), so autograd did not record it.
        Fix: Move the line out of the inference_mode block.
        """,
        plans=(block.remove_block_naming("inference_mode"),),
    ),
    Cause(
        "outside_tape",
        "outside",
        """
        [tape]
        {what} ran outside the tape's with block{line}.
        Fix: Move the line into the with block.

        [tape: before]
        {what} ran before the tape's with block began{line}.
        Fix: Move the line into the with block.

        [tape: after]
        {what} ran after the tape's with block had ended{line}.
        Fix: Move the line into the with block.

        [tape: setup]
        {what} ran in {function}{line} once, before the tape's block began.
        Fix: Compute it where it is used, inside the block: in call, __call__ or the function that the block calls.

        [tape: another]
        {what}{line} ran under another tape, not under this one.
        Fix: Run it anew inside this tape's block: what was kept from before belongs to the other tape. Or ask that
        tape for the gradient, or nest the two.

        [tape: gradient]
        The gradient was computed outside the tape's with block{line}.
        Fix: For a second derivative nest two tapes, and call gradient of the inner one inside the outer one's with
        block.

        [tape: reset]
        tape.reset(){line} dropped what had been recorded before it.
        Fix: Call tape.reset() before the computation that you want to differentiate, or not at all.
        """,
        bridge_name="computed_before_tape",
    ),
    Cause(
        "computed_before_tape",
        "outside",
        """
        [tensorflow]
        {what}{line} ran before the tape's with block began.
        Fix: Move the line into the with block.

        [tensorflow: made]
        {what}{line} ran when the object was made, before the tape's block began. The tape does not know it.
        Fix: Keep what it is computed from in the object, and compute it in the method that uses it, which runs
        inside the block.

        [tensorflow: other]
        {what}{line} ran before the block of the tape that computes the gradient. Another tape recorded it.
        Fix: Call gradient() of the tape whose block has the line, or move the line into the block of the other.

        [tensorflow: reset]
        tape.reset(){line} dropped what had been recorded before it. The path from {x} to the target is gone.
        Fix: Call tape.reset() before the computation that you want to differentiate, or not at all.
        """,
    ),
    Cause(
        "computed_after_tape",
        "outside",
        """
        [tensorflow]
        {what}{line} ran after the tape's with block had ended.
        Fix: Move the line into the with block.

        [tensorflow: other]
        {what}{line} ran after the block of the tape that computes the gradient. Another tape recorded it.
        Fix: Call gradient() of the tape whose block has the line, or move the line into the block of the other.

        [tensorflow: gradient]
        {what}{line} ran where no other tape recorded it. The gradient that it gave is a plain value.
        Fix: For a derivative of a derivative, call the inner tape's gradient() inside of the outer tape's with
        block.
        """,
    ),
    Cause(
        "create_graph",
        "outside",
        """
        [torch]
        {what}{line} gives a gradient as a plain value. The path from {x} to it was not recorded.
        Fix: To go on with a gradient, write torch.autograd.grad(..., create_graph=True).
        """,
        edits=(edit.limit_to_only_candidate(edit.set_keyword("create_graph", True, "grad", "backward")),),
    ),
    Cause(
        "state",
        "through_state",
        """
        [tape]
        {what}{line} stored the value in a variable. That does not know where the value came from.
        Fix: Compute with tensors instead of storing the value: use the expression itself where the variable is
        read.

        [tape: expression]
        Fix: Compute with tensors instead of storing the value: use {instead} where {code} is read.

        [tape: changed]
        Fix: Compute the new value as a tensor first, value = {instead}. Store it by {code}.assign(value), and go on
        with value, not with {code}.

        [tape: before]
        Fix: Ask for the gradient of {code}, which the computation uses, or use {x} itself inside the with block.

        [tape: variable]
        tf.Variable{line} made a new variable of the value. That does not know where it came from.
        Fix: Leave out tf.Variable and keep the tensor.

        [tape: variable before]
        tf.Variable{line} made a new variable, {code}, of the value.
        Fix: Ask for the gradient of {code}, which the computation uses. Or leave out tf.Variable and compute the
        tensor inside the with block.
        """,
        bridge_name="variable_assign",
    ),
    Cause(
        "variable_assign",
        "through_state",
        """
        [tensorflow]
        A variable was assigned{line}. It is a state: it does not know where its value came from.
        Fix: Compute with the value itself, and assign the variable after it, or outside of the tape.
        """,
        edits=(edit.unwrap_call("Variable"),),
    ),
    Cause(
        "nondifferentiable_op",
        "no_derivative",
        """
        [tape]
        TensorFlow has no derivative of {what}{line}. No gradient passes it.
        Fix: No gradient passes it. Compute the target without its result, or define a gradient for it with
        tf.custom_gradient.

        [tape: step]
        {what}{line} goes in steps, and no gradient passes a step.
        Fix: Leave it out while training, or pass the gradient as if it were not there: x +
        tf.stop_gradient(tf.round(x) - x).

        [tape: python]
        Python's {what}{line} gave another value than the one that was computed from {x}.
        Fix: Write {instead}(a, b), or tf.reduce_{what} of a list: tensors, of which the tape records both. The
        tensor that is not taken gets the gradient zero.

        [tape: shape]
        {what}{line} depends on the shape of its input alone, not on the values.
        Fix: Compute with the values of {x} themselves.
        """,
        bridge_name="nondifferentiable",
    ),
    Cause(
        "nondifferentiable",
        "no_derivative",
        """
        [tensorflow]
        {what}{line} has no derivative. It is on the path from {x} to the target.
        Fix: Use a function that has a derivative in its place, or a tf.custom_gradient that says what should pass.

        [tensorflow: none]
        TensorFlow's derivative of {what}{line} gave None for this input.
        Fix: Ask whether the line uses the value itself, or only its shape or dtype.

        [tensorflow: function]
        The tf.function {what}{line} gives no gradient for {x}. It is one row here, and may have a tape of its own
        inside.
        Fix: Ask again with record(open_functions=True): it runs the function line by line, and shows which one it
        is.

        [tensorflow: steps]
        {what}{line} is constant in steps: TensorFlow has no derivative for it.
        Fix: Leave it out while training, or pass the gradient as if it were not there: x +
        tf.stop_gradient(tf.round(x) - x).
        """,
        edits=(number.pass_straight_through,),
    ),
    Cause(
        "no_gradient_registered",
        "no_derivative",
        """
        [tape, tensorflow]
        No gradient is registered for {what}{line}.
        Fix: Use an operation that has a gradient, or wrap this one in tf.custom_gradient.
        """,
    ),
    Cause(
        "no_derivative",
        "no_derivative",
        """
        [torch]
        {what}{line} has no derivative. It is on the path from {x} to the target.
        Fix: If it jumps, use a smooth function of the values instead; if not, compute the same from operations that
        have a gradient.

        [jax]
        {what}{line} has no derivative: JAX gives zeros for it. It is on the path from {x} to the result.
        Fix: Use a smooth function of the values instead.
        """,
        edits=(number.pass_straight_through,),
    ),
    Cause(
        "no_gradient",
        "no_derivative",
        """
        [torch]
        The backward of {what}{line} gave no gradient (None) for this input.
        Fix: Return a gradient for this input from backward(), in the order of forward()'s arguments.

        [torch: zeros]
        The backward of {what}{line} gave zeros.
        Fix: Look at its backward(): return the adjoint times the derivative, or the adjoint itself where it should
        pass unchanged.
        """,
    ),
    Cause(
        "custom_rule",
        "no_derivative",
        """
        [tape, tensorflow]
        The tf.custom_gradient of {what}{line} gives zeros for this input.
        Fix: Look at its grad function: return the upstream gradient times the derivative, or the gradient itself
        where it should pass unchanged.

        [jax]
        The derivative rule of {what}{line} gives zeros.
        Fix: Look at its custom_vjp or custom_jvp: pass the adjoint (or tangent) on, times the derivative.

        [tape, tensorflow: none]
        The gradient function of {what}{line} returns None for what came from {x}.
        Fix: Return a gradient for each input of {what} from it.
        """,
    ),
    Cause(
        "while_loop",
        "no_derivative",
        """
        [jax]
        JAX does not go back through {what}{line}. How many steps it takes is known only when it runs.
        Fix: Use lax.scan, or lax.fori_loop with a number of steps that is fixed, or give the solution a rule of its
        own (jax.custom_vjp, lax.custom_root).
        """,
    ),
    Cause(
        "unknown",
        "unknown",
        """
        [torch]
        {x} was used{line} in a call that is one row, such as one of torch.func or of a checkpoint. No gradient came
        out of it, and minitape does not see inside.
        Fix: Look for what blocks the gradient in the function that the call was given: run it alone to see. For
        torch.utils.checkpoint, write use_reentrant=False; give an autograd.Function what it uses as an argument.

        [torch: before]
        The forward pass ran before the block: no gradient came to {x}, and why is not known.
        Fix: Move the computation of the target into the block, and ask again.
        """,
        edits=(edit.set_keyword("use_reentrant", False, "checkpoint"),),
    ),
)
