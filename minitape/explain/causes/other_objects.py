"""Describe the causes that apply when the target was computed without the source."""

from ..fixes import edits as edit
from .cause import Cause

CAUSES = (
    Cause(
        "rebound",
        "other_object",
        """
        [tape]
        The name {what} was rebound{line}, so the target was computed with a different object.
        Fix: Change a variable in place with assign, assign_add or assign_sub, or give the new value a different name.

        [tensorflow]
        From here on{line}, {x} is a plain tensor and no longer a tf.Variable.
        Fix: Change the variable in place with {x}.assign(...) or {x}.assign_sub(...).

        [tape: replaced]
        The name {what} was bound to a new tensor{line}, and the tape does not watch the new tensor.
        Fix: Change a variable in place with assign, assign_add or assign_sub, or give the new value a different name.

        [torch: replaced]
        {x} was not used, because it was replaced in its module{line}.
        Fix: After that line, read {x} from the module again, and then create the optimizer.

        [tape: tensor]
        Fix: Give the new value a different name, or call tape.watch({x}) after this line, because the tape watches the
        old value.

        [tape: replaced tensor]
        The name {what} was bound to a new tensor{line}, and the tape does not watch the new tensor.
        Fix: Give the new value a different name, or call tape.watch({x}) after this line, because the tape watches the
        old value.

        [tape: new]
        {what} was created again{line}. The target was computed with a different object, not with the one that {x}
        belongs to.
        Fix: Create {what} only once. Otherwise, read its variables again after that line, and then run the with block.

        [tape: assign]
        Fix: Keep the variable and change its value: write {instead}. Or give the new value a different name.

        [tape: replaced assign]
        The name {what} was bound to a new tensor{line}, and the tape does not watch the new tensor.
        Fix: Keep the variable and change its value: write {instead}. Or give the new value a different name.

        [torch: copied]
        The program used a deep copy of {x}{line} instead of {x} itself.
        Fix: Use the object itself, or ask about the copy and pass its parameters to the optimizer. If the copy is part
        of the method, as in meta-learning, copy its gradients back (p.grad = copy.grad), or use
        torch.func.functional_call.
        """,
    ),
    Cause(
        "wrong_object",
        "other_object",
        """
        [tape]
        The target was computed from a different object, not from {x}{line}.
        Fix: Pass the same tensor or variable that was used in the computation, or compute the target from {x}{watched}.

        [tensorflow]
        {x} was not used. A different variable with the same shape, {other}{line}, was used instead.
        Fix: Ask about the object that the program uses, because the layer or variable was created again.

        [tape: model]
        {x} is not a variable. It is a {what} that contains variables.
        Fix: Pass its variables: {x}.trainable_variables.

        [tape: layer]
        {x} is a Keras variable that wraps a tf.Variable.
        Fix: Watch the wrapped variable: tape.watch({x}.value).

        [tape: plain]
        {x} is neither a tensor nor a variable. It has the type {what}, and a tape cannot watch it.
        Fix: Convert it to a tf.Variable, or to a tensor that the tape watches, and compute the target from the result.

        [tensorflow: cloned]
        {x} was not used. A copy of its model{line} was used instead, and the copy has its own variables.
        Fix: Ask for the gradients of the variables in the model that is called.

        [tensorflow: equal]
        The tensor that you asked about{line} is not the tensor that was used, although the two have equal values.
        Fix: Assign the tensor that the computation uses to a Python variable, and ask for its gradient.

        [tensorflow: read]
        {x} is the result of reading the variable {other} once{line}, but the target was computed from a separate read.
        Fix: Ask for the gradient of the variable itself.

        [tensorflow: copied]
        {x} itself was not used. A variable that was created from its values{line} was used instead.
        Fix: Ask for the gradient of the variable, or watch {x} and compute with it.

        [tensorflow: made]
        {x} was created{line} from a value that the target was also computed from, but {x} itself is not on a path to
        the target.
        Fix: Ask for the gradient of {other}, or use {x} in its place to compute the target.

        [tensorflow: again]
        The target was not computed from {x}{line}, but from the same value computed a second time.
        Fix: Compute the value once, and continue with {x}. A single Keras model can return both:
        keras.Model(model.inputs, [layer.output, model.output]).
        """,
        edits=(edit.build_call_unwrapping_edit("identity", "value", "read_value"),),
    ),
    Cause(
        "independent",
        "unused",
        """
        [tape]
        The target was not computed from {x}.
        Fix: Use {x} to compute the target{watched}, or leave it out of the sources. With
        unconnected_gradients="zero", the gradient is zero instead of None.

        [tensorflow]
        {x} was not used to compute the target.
        Fix: Use {x} in the computation, or leave it out of the sources.

        [tape: call]
        This call to {what}{line} did not use {x}.
        Fix: Check whether the branch that uses {x} runs when you expect it to, or leave {x} out of the sources.

        [tape: None]
        The target is None, because the code that should compute the target returned nothing.
        Fix: Check whether the function that computes the target ends with a return statement.

        [tape: swapped]
        {x} was computed from the target, and not the target from {x}. So {x} should be passed as the target.
        Fix: Pass {x} first, and then the value that its gradient should be for, as in tape.gradient({x}, ...).

        [tape: used]
        {x} was used, but the target does not depend on the result{used}.
        Fix: Use that result to compute the target, or leave {x} out of the sources. With
        unconnected_gradients="zero", the gradient is zero instead of None.

        [tape: constant]
        The target is a constant{used} that was not computed from {x}.
        Fix: Compute the target from {x} with tf operations, inside the with block{watched}.

        [tape: derivative]
        The target is a derivative that does not depend on {x}, because the differentiated function is linear in {x} or
        does not use {x} at all.
        Fix: The second derivative of a linear function is 0, but TensorFlow returns None for it. Use
        unconnected_gradients="zero", or leave {x} out of the sources.

        [tensorflow: dropped]
        {x} is an input of {what}{line}, but the target does not depend on its output.
        Fix: Use that output to compute the target, or leave {x} out of the sources.
        """,
    ),
    Cause(
        "unused",
        "unused",
        """
        [torch]
        {x} was not used to compute the target.
        Fix: Use {x} in the computation, or exclude it from training.

        [jax]
        {x} was not used to compute the result.
        Fix: Use {x} in the computation, or do not differentiate with respect to it.

        [torch: layer]
        {x} was not used, because its layer {what}{line} was not called in this run.
        Fix: Use {x} in the computation, or exclude it from training. If some batches do not need the layer, such as an
        expert in a mixture of experts, ask about more steps.

        [torch: dropped]
        {x} is an input of {what}{line}, but the target does not depend on its output.
        Fix: Use that output to compute the target, or exclude {x} from training.

        [jax: dropped]
        {x} is an input of {what}{line}, but the result does not depend on its output.
        Fix: Use that output in the computation, or do not differentiate with respect to {x}.

        [torch: input]
        torch.autograd.grad{line} was called for the gradient with respect to {what}, but the output was not computed
        from {what}.
        Fix: Compute the output from {what} itself, or pass allow_unused=True if a None gradient is acceptable.

        [torch: relative]
        The output was computed from {other}{line}, not from {what}, although {what} was computed from {other}{used}.
        Fix: Compute the output from {what}, or call torch.autograd.grad for {other} and select the corresponding part
        of its gradient.
        """,
    ),
    Cause(
        "unused_layer",
        "unused",
        """
        [tape]
        {x} was not used. Its layer {what}{line} was not called, or the layer's call method does not use {x}.
        Fix: Call the layer in the computation, and make sure that its call method uses {x}. Or leave its variables out
        of the sources.

        [tensorflow]
        {x} was not used, because its layer {what}{line} was never called.
        Fix: Call the layer in the computation, or leave its variables out of the sources.
        """,
    ),
    Cause(
        "other_branch",
        "unused",
        """
        [jax]
        The cond{line} took branch {what}, and this branch does not use {x}.
        Fix: The gradient is zero whenever this branch is taken. Check the condition, or combine both branches with
        jnp.where.

        [jax: python]
        The Python condition{line} took a branch that does not use {x}.
        Fix: The gradient is zero whenever this branch is taken. Check the condition, or use jnp.where or jnp.maximum.
        """,
    ),
)
