"""Describe the causes of gradients that exist but are wrong, as recorded numbers or object identities reveal."""

from __future__ import annotations

from ..fixes import edits as edit
from .cause import Cause

CAUSES = (
    Cause(
        "broadcast",
        "suspect",
        """
        [all]
        {what}{line} combines the shapes {one} and {two}, which broadcast to {result}: each of the {n} values meets
        all {n} of the other side.
        Fix in tape, tensorflow: Give both the same shape: tf.squeeze({x}, -1) for the column, or {y}[:, tf.newaxis]
        for the row.
        Fix in torch: Give both the same shape: {x}.squeeze(-1) for the column, or {y}.unsqueeze(-1) for the row.
        Fix in jax: Give both the same shape: {x}.squeeze(-1) for the column, or {y}[:, None] for the row.
        """,
        edits=(edit.squeeze_column,),
    ),
    Cause(
        "activation_twice",
        "suspect",
        """
        [all]
        {what}{line} applies a {one} itself, and its input is the result of a {one} already{other}.
        Fix in tape, tensorflow: Leave out the {one} before the loss, or use a loss with from_logits=False.
        Fix in torch, jax: Leave out the {one} before the loss: give the loss the logits.
        """,
    ),
    Cause(
        "not_optimized",
        "suspect",
        """
        [torch, tensorflow]
        It has a gradient, but no optimizer holds it: {steps} of {what}{line} did not change it.
        Fix in torch: Make the optimizer after the whole model is built, and give it all parameters: layers belong
        in nn.ModuleList, not in a list; what is added later, in optimizer.add_param_group. What is to stay as it is
        needs no gradient: requires_grad_(False).
        Fix in tensorflow: Pass all variables that should be trained to apply_gradients: zip(gradients,
        model.trainable_variables).

        [tensorflow: untracked]
        {what} is a tf.Variable{line}, and a Keras layer does not track a tf.Variable: it is missing from the
        layer's trainable_variables, so nothing trains it.
        Fix: Create it with self.add_weight(...) or keras.Variable. If it should stay as it is, pass trainable=False.

        [torch: model]
        It has a gradient, but no optimizer holds it, and no module of the block has it as a parameter: what is in a
        plain list, dictionary or object{line} is not found by model.parameters().
        Fix: Write nn.ModuleList([...]) or nn.ModuleDict({{...}}) there; a class with layers should be an nn.Module.

        [torch: replaced]
        It has a gradient, but no optimizer holds it: the module was given it{line} after the optimizer was made.
        Fix: Make the optimizer after this line, or add what is new: optimizer.add_param_group({{'params':
        layer.parameters()}}).

        [torch: another]
        It has a gradient, but no optimizer holds it: {steps} of {what}{line} changed only other parameters, none of
        which has a gradient of the block.
        Fix: Make the optimizer with the parameters of the model that computes the loss: after the model is copied,
        loaded or built again.

        [torch: late]
        {n} backward passes gave it a gradient, and it has not changed since the first. It was made{line}, and
        no optimizer holds it, because the last one was made{made} before.
        Fix: Make the optimizer after it, or add it: optimizer.add_param_group({{'params': [...]}}).

        [torch: remade]
        {n} parameters were created{line}, one after the other. Each got a gradient and was replaced before a step
        could change it.
        Fix: Create the layer once, in __init__(), and create the optimizer after the model.
        """,
    ),
    Cause(
        "not_applied",
        "suspect",
        """
        [torch, tensorflow]
        {n} backward passes{line} gave it a gradient, and no step of an optimizer used one.
        Fix in torch: Write optimizer.step() after backward().
        Fix in tensorflow: Write optimizer.apply_gradients(zip(gradients, variables)) after tape.gradient.

        [torch: cleared]
        The gradient was cleared{line} before a step used it: step{other} found none.
        Fix: Clear gradients before backward(), or after step(): zero_grad(), backward(), step().

        [torch, tensorflow, jax: rate]
        {n} steps of the optimizer changed nothing: the learning rate{line} is 0, or too small for the weights.
        Fix: Set the learning rate, or look at its schedule.

        [jax: dropped]
        {n} steps computed new values{line}, but each next step began with the old ones.
        Fix: Return the new parameters from the step, and pass them to the next step.

        [jax: unchanged]
        The gradient was computed {n} times in a row for the same values: the steps{line} changed none of the
        parameters.
        Fix: Check the learning rate, and check that the next step receives the new parameters.

        [tensorflow: lost]
        {n} backward passes gave it a gradient, and the step{line} makes a new tensor that nothing uses: the
        variable stays as it is.
        Fix: Change the variable itself: v.assign_sub(rate * gradient).

        [torch: rounded]
        {n} steps{line} with the learning rate {rate:g} used a gradient of norm {norm:.2g}, and no element has
        changed. The updates are smaller than {dtype} can represent next to the weights.
        Fix: Keep the weights in float32, and compute in half precision with torch.autocast.

        [torch: undone]
        Each step{line} changes it, and before the next step it has its old values again.
        Fix: Look for what writes the weights back between two steps, such as load_state_dict() or a copy that
        is restored.
        """,
        edits=(edit.update_instead_of_rebinding,),
    ),
    Cause(
        "accumulated",
        "suspect",
        """
        [torch]
        The gradient was not cleared after a step: the step{line} uses the gradients of earlier steps once more, {n}
        backward passes in all.
        Fix: Write optimizer.zero_grad() before each backward() that begins a step.
        """,
        edits=(edit.clear_gradients_after_step,),
    ),
    Cause(
        "vanishing",
        "suspect",
        """
        [torch, tensorflow, jax]
        The gradient shrinks on its path through {what}{line}: of {from_:.2g} at the end {to:.2g} is left after {n}
        of them, {ratio:.1g} of it.
        Fix: Use relu, gelu or tanh with a normalization or residual connections between the layers, and check the
        initial weights.

        [torch, tensorflow, jax: saturated]
        {what}{line} is saturated: of an adjoint of {from_:.2g} it passes {to:.2g}, {ratio:.1g} of it.
        Fix: Make its input smaller (scale or normalize it), or use a loss of logits.
        """,
    ),
    Cause(
        "exploding",
        "suspect",
        """
        [torch, tensorflow, jax]
        The gradient grows on its path through {what}{line}: from {from_:.2g} at the end to {to:.2g} after {n} of
        them.
        Fix: Make the weights smaller at the beginning (an orthogonal matrix for a recurrence), normalize between
        the steps, or clip the norm of the gradient.

        [torch, tensorflow: steps]
        Training diverges: the gradient grew from {from_:.2g} to {to:.2g} in {n} steps{line}, and one step changes
        the weight by {ratio:.2g} of its length.
        Fix: Use a smaller learning rate, and the mean over the batch where the loss is a sum.
        """,
    ),
    Cause(
        "rounding_only",
        "suspect",
        """
        [torch, tensorflow, jax]
        What passes {what}{line} is rounding only: {to:.1g} of an adjoint of {from_:.2g}. The same adjoint comes to
        all elements, and their sum does not depend on the input.
        Fix: Use a result that changes with the input: not the sum or the mean of all that a softmax or a
        normalization gives.
        """,
    ),
    Cause(
        "sampled",
        "suspect",
        """
        [torch]
        The draw{line} passes no gradient, and the target uses it as if it did: only what log_prob or a divergence
        says of the distribution trains it.
        Fix: Draw with rsample(), which passes the gradient on.

        [torch: normal]
        torch.normal{line} draws a sample, and autograd sends zeros back to its mean and standard deviation. The
        target uses the sample as if its gradient came through.
        Fix: Draw with mean + std * torch.randn_like(std), or with torch.distributions.Normal(mean, std).rsample().
        """,
        edits=(edit.sample_with_gradient,),
    ),
    Cause(
        "in_part",
        "suspect",
        """
        [all]
        The gradient lacks a part: {what}{line} took a value out that was computed from it, and the target adds what
        came back as a constant.
        Fix: Add the tensor itself to the target, and take numbers out for printing only.

        [all: choice]
        The gradient lacks a part: {what}{line} has no slope, and the target adds what was computed with its result.
        Fix: Add a smooth relative of it to the target, such as a sigmoid for a comparison, or leave the term out.

        [all: cut]
        The gradient lacks a part: {what}{line} cuts off the whole of a term that the target adds, so that the term
        changes nothing.
        Fix: Cut off less of it, so that the term has a gradient, or leave the term out of the target.

        [tape, torch, tensorflow: derivative]
        The gradient lacks a part: a derivative{line} does not know how it was computed, and the target adds what
        came of it as a constant.
        Fix in tape, tensorflow: Call gradient of the inner tape inside the block of the outer one.
        Fix in torch: Keep its graph: torch.autograd.grad(..., create_graph=True).
        """,
        edits=(
            edit.unwrap_call("item", "detach", "stop_gradient"),
            edit.set_keyword("create_graph", True, "grad"),
        ),
    ),
)
