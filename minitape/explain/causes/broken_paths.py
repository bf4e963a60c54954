"""Describe the causes that break the path from the source to the target."""

from ..fixes import block_fixes as block
from ..fixes import edits as edit
from .cause import Cause

CAUSES = (
    Cause(
        "stop_gradient",
        "cut",
        """
        [tape, tensorflow]
        tf.stop_gradient{line} blocks the gradient from the target to {x}.
        Fix: Remove tf.stop_gradient, or apply it only to the part that should be a constant.

        [jax]
        lax.stop_gradient{line} blocks the gradient from the result to {x}.
        Fix: Remove stop_gradient, or apply it only to the part that should be a constant.
        """,
        edits=(
            edit.build_edit_that_moves_cut_to_difference("stop_gradient"),
            edit.build_call_unwrapping_edit("stop_gradient"),
        ),
    ),
    Cause(
        "detach",
        "cut",
        """
        [torch]
        {what}{line} blocks the gradient from the target to {x}.
        Fix: Remove .detach(), or apply it only to the part that should be a constant.

        [torch: state]
        state_dict(){line} returns detached tensors, so no gradient flows from the target to {x}.
        Fix: Use the parameters themselves, for example with named_parameters().

        [torch: copied]
        This line{line} returns tensors with the same values as {x} but without their history, so no gradient flows from
        the target to {x}.
        Fix: If these tensors should be trained, pass them to the optimizer instead of {x}. Otherwise, compute with {x}
        itself.
        """,
        edits=(
            edit.build_edit_that_moves_cut_to_difference("detach"),
            edit.build_call_unwrapping_edit("detach", "detach_"),
        ),
    ),
    Cause(
        "data",
        "cut",
        """
        [torch]
        .data{line} returns the values without their history, so the path from {x} to the target ends there.
        Fix: Use the tensor itself instead of .data. To change a parameter in place, do so under torch.no_grad().
        """,
        edits=(edit.build_call_unwrapping_edit("data"),),
    ),
    Cause(
        "copied",
        "cut",
        """
        [torch]
        torch.{what}(...){line} creates a new tensor from the values, without their history.
        Fix: Use the tensor itself. For a list of tensors, use torch.stack([...]).

        [torch: wrapped]
        A new leaf was created{line} from the values. nn.Parameter(t) and Variable(t) do not keep the history of their
        values.
        Fix: Use the tensor itself. To use it as the weight of a module, call torch.func.functional_call.
        """,
    ),
    Cause(
        "recording_paused",
        "paused",
        """
        [tape]
        This code{line} ran inside a {function}() block, so the tape did not record it.
        Fix: Move the line out of the {function}() block, or remove the with statement.

        [tensorflow]
        The tape was paused when {what}{line} ran. stop_recording() and tf.init_scope() pause the tape.
        Fix: Move the line out of the block that pauses the tape.

        [tensorflow: watch]
        tape.watch was called while the tape was paused{line}, where it has no effect.
        Fix: Call tape.watch({x}) outside the stop_recording() block, before {x} is used.

        [tape: watch]
        tape.watch{line} was called inside stop_recording(), where it has no effect.
        Fix: Call tape.watch({x}) outside the stop_recording() block, before {x} is used.
        """,
        plans=(block.plan_removal_of_block_using("stop_recording", "init_scope"),),
    ),
    Cause(
        "no_grad",
        "paused",
        """
        [torch]
        {what}{line} ran under torch.no_grad(), so autograd did not record it.
        Fix: Move the line out of the no_grad block, or remove the decorator from the function. Only code that needs no
        gradient belongs under no_grad.

        [torch: drawn]
        {what}(){line} draws a sample under torch.no_grad(), so no gradient flows through the sample.
        Fix: Draw the sample with rsample(), so that the gradient flows through it. If the distribution has no
        rsample(), keep the sample and train with the loss -(distribution.log_prob(draw) * reward).mean().

        [torch: source]
        {x} was created by {what}{line} under torch.no_grad(), so it is a new tensor without requires_grad.
        Fix: Change the parameter in place under torch.no_grad(), as in w.sub_(lr * w.grad), or call .requires_grad_()
        after this line.

        [torch: checkpoint]
        torch.utils.checkpoint{line} runs its function under torch.no_grad(). With use_reentrant=True, {x} gets a
        gradient only if an input of the call requires one, and here no input does.
        Fix: Write use_reentrant=False in this call.
        """,
        edits=(
            edit.replace_sample_by_rsample,
            edit.build_keyword_edit("use_reentrant", False, "checkpoint"),
        ),
        plans=(block.plan_removal_of_block_using("no_grad", "inference_mode"),),
    ),
    Cause(
        "inference_mode",
        "paused",
        """
        [torch]
        {what}{line} ran under torch.inference_mode(), so autograd did not record it.
        Fix: Move the line out of the inference_mode block.
        """,
        plans=(block.plan_removal_of_block_using("inference_mode"),),
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
        {what} ran only once, in {function}{line}, before the tape's block began.
        Fix: Compute the value where it is used, inside the block: in call, in __call__ or in the function that the
        block calls.

        [tape: another]
        {what}{line} ran under a different tape, not under the tape that computes the gradient.
        Fix: Run the line again inside this tape's block, because the stored result belongs to the other tape.
        Alternatively, compute the gradient with the other tape, or nest the two tapes.

        [tape: gradient]
        The gradient was computed outside the tape's with block{line}.
        Fix: For a second derivative, nest two tapes, and call the inner tape's gradient inside the outer tape's with
        block.

        [tape: reset]
        tape.reset(){line} discarded everything that had been recorded before.
        Fix: Call tape.reset() before the computation that you want to differentiate, or not at all.
        """,
        name_in_bridges="computed_before_tape",
    ),
    Cause(
        "computed_before_tape",
        "outside",
        """
        [tensorflow]
        {what}{line} ran before the tape's with block began.
        Fix: Move the line into the with block.

        [tensorflow: made]
        {what}{line} ran when the object was created, before the tape's block began, so the tape did not record it.
        Fix: Store the inputs of this computation in the object, and compute the value in the method that uses it,
        inside the block.

        [tensorflow: other]
        {what}{line} ran before the block of the tape that computes the gradient, and a different tape recorded it.
        Fix: Call gradient() on the tape whose block contains the line, or move the line into the block of the other
        tape.

        [tensorflow: reset]
        tape.reset(){line} discarded everything that had been recorded before, including the path from {x} to the
        target.
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
        {what}{line} ran after the block of the tape that computes the gradient, and a different tape recorded it.
        Fix: Call gradient() on the tape whose block contains the line, or move the line into the block of the other
        tape.

        [tensorflow: gradient]
        {what}{line} ran while no other tape was recording, so the gradient that it returned is a plain value.
        Fix: To differentiate a gradient, call the inner tape's gradient() inside the outer tape's with block.
        """,
    ),
    Cause(
        "create_graph",
        "outside",
        """
        [torch]
        {what}{line} returns the gradient as a plain value, so the path from {x} to this value was not recorded.
        Fix: To differentiate through a gradient, call torch.autograd.grad(..., create_graph=True).
        """,
    ),
    Cause(
        "state",
        "through_state",
        """
        [tape]
        {what}{line} stored the value in a variable, and a variable does not keep the history of its value.
        Fix: Use tensors instead of storing the value in a variable: write the expression itself where the variable is
        read.

        [tape: expression]
        Fix: Use tensors instead of storing the value in a variable: write {instead} where {code} is read.

        [tape: changed]
        Fix: First compute the new value as a tensor: value = {instead}. Store it with {code}.assign(value), and
        continue with value, not {code}.

        [tape: before]
        Fix: Ask for the gradient of {code}, which is what the computation uses, or use {x} itself inside the with
        block.

        [tape: variable]
        tf.Variable{line} created a new variable from the value, and a variable does not keep the history of its value.
        Fix: Remove tf.Variable and use the tensor itself.

        [tape: variable before]
        tf.Variable{line} created a new variable, {code}, from the value.
        Fix: Ask for the gradient of {code}, which is what the computation uses. Or remove tf.Variable and compute the
        tensor inside the with block.
        """,
        name_in_bridges="variable_assign",
    ),
    Cause(
        "variable_assign",
        "through_state",
        """
        [tensorflow]
        A value was assigned to a variable{line}, and a variable does not keep the history of its value.
        Fix: Compute with the value itself, and assign it to the variable afterwards or outside the tape's block.
        """,
        edits=(edit.build_call_unwrapping_edit("Variable"),),
    ),
    Cause(
        "nondifferentiable_op",
        "no_derivative",
        """
        [tape]
        TensorFlow has no derivative for {what}{line}, so no gradient flows through it.
        Fix: Compute the target without the result of this operation, or define a gradient for it with
        tf.custom_gradient.

        [tape: step]
        {what}{line} is a step function, so no gradient flows through it.
        Fix: Leave out the operation during training, or use the straight-through estimator: x +
        tf.stop_gradient(tf.round(x) - x).

        [tape: python]
        Python's {what}{line} returned a different value, not the one that was computed from {x}.
        Fix: Write {instead}(a, b), or tf.reduce_{what} for a list, so that the tape records all the tensors. A tensor
        that is not chosen then gets a zero gradient.

        [tape: shape]
        {what}{line} depends only on the shape of its input, not on the values.
        Fix: Compute with the values of {x} instead.
        """,
        name_in_bridges="nondifferentiable",
    ),
    Cause(
        "nondifferentiable",
        "no_derivative",
        """
        [tensorflow]
        {what}{line} is on the path from {x} to the target and has no derivative.
        Fix: Use a differentiable function instead, or define the gradient with tf.custom_gradient.

        [tensorflow: none]
        TensorFlow's gradient function for {what}{line} returned None for this input.
        Fix: Check whether the line uses the value itself, or only the shape or dtype of the value.

        [tensorflow: function]
        The tf.function {what}{line} returns no gradient for {x}. The function is recorded as a single row, and it may
        contain its own tape.
        Fix: Try again with record(open_functions=True). The function then runs line by line, and explain can find the
        line that blocks the gradient.

        [tensorflow: steps]
        {what}{line} is a step function, so TensorFlow has no derivative for it.
        Fix: Leave out the operation during training, or use the straight-through estimator: x +
        tf.stop_gradient(tf.round(x) - x).
        """,
    ),
    Cause(
        "no_gradient_registered",
        "no_derivative",
        """
        [tape, tensorflow]
        No gradient is registered for {what}{line}.
        Fix: Use an operation that has a gradient, or wrap this operation in tf.custom_gradient.
        """,
    ),
    Cause(
        "no_derivative",
        "no_derivative",
        """
        [torch]
        {what}{line} is on the path from {x} to the target and has no derivative.
        Fix: If the operation is a step function, use a smooth function instead. Otherwise, compute the same result with
        operations that have a gradient.

        [jax]
        {what}{line} is on the path from {x} to the result, but it has no derivative, so JAX returns zeros for it.
        Fix: Use a smooth function instead.
        """,
    ),
    Cause(
        "no_gradient",
        "no_derivative",
        """
        [torch]
        The backward() method of {what}{line} returned no gradient (None) for this input.
        Fix: Make backward() return a gradient for this input as well. The gradients must be in the order of forward()'s
        arguments.

        [torch: zeros]
        The backward() method of {what}{line} returned zeros.
        Fix: Check its backward() method. It should return the incoming gradient times the derivative, or the incoming
        gradient itself if it should pass through unchanged.
        """,
    ),
    Cause(
        "custom_rule",
        "no_derivative",
        """
        [tape, tensorflow]
        The tf.custom_gradient of {what}{line} returns zeros for this input.
        Fix: Check its grad function. It should return the upstream gradient times the derivative, or the upstream
        gradient itself if it should pass through unchanged.

        [jax]
        The derivative rule of {what}{line} returns zeros.
        Fix: Check its custom_vjp or custom_jvp rule. It should return the cotangent (or tangent) times the derivative.

        [tape, tensorflow: none]
        The gradient function of {what}{line} returns None for the input that was computed from {x}.
        Fix: Make the gradient function return a gradient for each input of {what}.
        """,
    ),
    Cause(
        "while_loop",
        "no_derivative",
        """
        [jax]
        JAX cannot apply reverse-mode differentiation to {what}{line}, because the number of steps is known only at run
        time.
        Fix: Use lax.scan, or lax.fori_loop with a fixed number of steps, or define a derivative rule for the solution
        (jax.custom_vjp or lax.custom_root).
        """,
    ),
    Cause(
        "unknown",
        "unknown",
        """
        [torch]
        {x} was used{line} in a call that is recorded as a single row, such as a torch.func transformation or a
        checkpoint. The call returned no gradient, and minitape cannot look inside.
        Fix: Run the function that was passed to this call on its own, to see what blocks the gradient. For
        torch.utils.checkpoint, write use_reentrant=False. If the function is an autograd.Function, pass everything that
        it uses as arguments.

        [torch: before]
        No gradient reached {x}. The reason is not known, because the forward pass ran before the block.
        Fix: Move the computation of the target into the block, and try again.
        """,
    ),
)
