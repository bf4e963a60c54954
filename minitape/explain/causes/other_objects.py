"""Describe the causes in which the target was computed without the source."""

from __future__ import annotations

from ..fixes import edits as edit
from .cause import Cause

CAUSES = (
    Cause(
        "rebound",
        "other_object",
        """
        [tape]
        The name {what} was bound again{line}: the target was computed with another object.
        Fix: Change a variable in place with assign, assign_add or assign_sub, or give the new value another name.

        [tensorflow]
        {x} is a plain tensor from here on{line}, and no tf.Variable any more.
        Fix: Change the variable in place: {x}.assign(...), or {x}.assign_sub(...).

        [tape: replaced]
        The name {what} was given to a new tensor{line}, which the tape does not watch.
        Fix: Change a variable in place with assign, assign_add or assign_sub, or give the new value another name.

        [torch: replaced]
        {x} was not used: its module was given another in its place{line}.
        Fix: Take {x} from the module after that line, and make the optimizer after it.

        [tape: tensor]
        Fix: Give the new value another name, or call tape.watch({x}) after this line: the tape watches the old
        value.

        [tape: replaced tensor]
        The name {what} was given to a new tensor{line}, which the tape does not watch.
        Fix: Give the new value another name, or call tape.watch({x}) after this line: the tape watches the old
        value.

        [tape: new]
        {what} was made again{line}. The target was computed with another one than that of {x}.
        Fix: Make {what} only once. Or read its variables again after that line, and run the with block after it.

        [tape: assign]
        Fix: Keep the variable and change its value: write {instead}. Or give the new value another name.

        [tape: replaced assign]
        The name {what} was given to a new tensor{line}, which the tape does not watch.
        Fix: Keep the variable and change its value: write {instead}. Or give the new value another name.

        [torch: copied]
        {x} was not used, and a deep copy of it{line} was.
        Fix: Use the object itself, or ask about the copy and give its parameters to the optimizer. Where a copy is
        the method, as in meta-learning, give its gradients back (p.grad = copy.grad), or compute with
        torch.func.functional_call.
        """,
        edits=(edit.update_instead_of_rebinding,),
    ),
    Cause(
        "wrong_object",
        "other_object",
        """
        [tape]
        The target was computed from another object than {x}{line}.
        Fix: Pass the very tensor or variable that was used in the computation, or compute the target from
        {x}{watched}.

        [tensorflow]
        {x} was not used. Another variable of the same shape, {other}{line}, was.
        Fix: Ask about the object that the program uses: the layer or variable was made anew.

        [tape: model]
        {x} is not a variable. It is a {what} that contains variables.
        Fix: Pass its variables: {x}.trainable_variables.

        [tape: layer]
        {x} is a variable of Keras, and the tf.Variable is inside it.
        Fix: Watch that one: tape.watch({x}.value).

        [tape: plain]
        {x} is no tensor and no variable, but of the type {what}: no tape can know it.
        Fix: Make it a tf.Variable, or a tensor that the tape watches, and compute the target from that.

        [tensorflow: cloned]
        {x} was not used: a copy of its model{line} was. A copy has variables of its own.
        Fix: Ask for the gradient of the variables of the model that is called.

        [tensorflow: equal]
        The tensor that was asked about{line} is not the one that was used. Their values are the same.
        Fix: Give the tensor that is used a name, and ask for its gradient.

        [tensorflow: read]
        {x} is what one reading{line} of the variable {other} gave. The target read it again.
        Fix: Ask for the gradient of the variable itself.

        [tensorflow: copied]
        {x} itself was not used. A variable was made of its values{line}, and that one was.
        Fix: Ask for the gradient of the variable, or watch {x} and compute with it.

        [tensorflow: made]
        {x} was made of what the target was computed from{line}. It is not on a path to the target itself.
        Fix: Ask for the gradient of {other}, or compute the target with {x} in its place.

        [tensorflow: again]
        The target was not computed from {x}{line}, but from the same made again.
        Fix: Compute it once, and go on with {x}. One model of Keras gives both: keras.Model(model.inputs,
        [layer.output, model.output]).
        """,
        edits=(
            edit.unwrap_call("identity", "value", "read_value"),
            edit.update_instead_of_rebinding,
        ),
    ),
    Cause(
        "independent",
        "unused",
        """
        [tape]
        The target was not computed from {x}.
        Fix: Use {x} in the computation of the target{watched}, or leave it out of the sources.
        unconnected_gradients="zero" gives zeros instead of None.

        [tensorflow]
        {x} was not used for the target.
        Fix: Use it in the computation, or leave it out of the sources.

        [tape: call]
        This call of {what}{line} did not use it.
        Fix: See whether the branch that uses it runs when you expect it to, or leave it out of the sources.

        [tape: None]
        The target is None: whatever should have made it returned nothing.
        Fix: See whether the function that computes the target ends with a return.

        [tape: swapped]
        {x} was computed from the target, not the target from {x}: the two are swapped.
        Fix: Swap the arguments: first what was computed, then what it was computed from, tape.gradient({x}, ...).

        [tape: used]
        {x} was used, and what came of it{used} does not lead to the target.
        Fix: Use that result in the computation of the target, or leave {x} out of the sources.
        unconnected_gradients="zero" gives zeros instead of None.

        [tape: constant]
        The target is a constant{used}: it was not computed from {x}.
        Fix: Compute the target from {x} with tf operations, inside the with block{watched}.

        [tape: derivative]
        The target is a derivative, and {x} is not in it: what was differentiated is linear in {x}, or has no {x}.
        Fix: A linear function has the second derivative 0, which TensorFlow gives as None: ask with
        unconnected_gradients="zero", or leave {x} out of the sources.

        [tensorflow: dropped]
        {x} goes into {what}{line}, and the target does not depend on that.
        Fix: Use what it gives for the target, or leave {x} out of the sources.
        """,
    ),
    Cause(
        "unused",
        "unused",
        """
        [torch]
        {x} was not used for the target.
        Fix: Use it in the computation, or leave it out of what is trained.

        [jax]
        {x} was not used for the result.
        Fix: Use it in the computation, or leave it out of what is differentiated.

        [torch: layer]
        {x} was not used: its layer {what}{line} was not called in this run.
        Fix: Use it in the computation, or leave it out of what is trained. Of a layer that some batches do not
        need, such as an expert of a mixture, ask about more steps.

        [torch: dropped]
        {x} goes into {what}{line}, and the target does not depend on that.
        Fix: Use what it gives for the target, or leave {x} out of what is trained.

        [jax: dropped]
        {x} goes into {what}{line}, and the result does not depend on that.
        Fix: Use what it gives, or leave {x} out of what is differentiated.

        [torch: input]
        torch.autograd.grad{line} was called for the gradient by {what}, and its output was not computed from
        {what}.
        Fix: Compute the output from {what} itself, or write allow_unused=True if None is fine.

        [torch: relative]
        The output was computed from {other}{line}, and not from {what}, which was computed from {other}{used}.
        Fix: Compute the output from {what}, or call torch.autograd.grad for {other} and select the part of its
        gradient.
        """,
    ),
    Cause(
        "unused_layer",
        "unused",
        """
        [tape]
        {x} was not used. Its layer {what}{line} was not called, or its call leaves {x} out.
        Fix: Call the layer in the computation, and let its call use {x}. Or leave its variables out of the sources.

        [tensorflow]
        {x} was not used: its layer {what}{line} was never called.
        Fix: Call the layer in the computation, or leave its variables out of the sources.
        """,
    ),
    Cause(
        "other_branch",
        "unused",
        """
        [jax]
        The cond{line} took branch {what}, which does not use {x}.
        Fix: The gradient is zero where this branch is taken. Look at the condition, or mix both branches with
        jnp.where.

        [jax: python]
        The Python condition{line} took a branch that does not use {x}.
        Fix: The gradient is zero where this branch is taken. Look at the condition, or choose with jnp.where or
        jnp.maximum.
        """,
    ),
)
