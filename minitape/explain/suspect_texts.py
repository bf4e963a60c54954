"""A table of the causes of gradients that exist and are wrong: what the run shows, and how to fix it.

{line} and {other} are places in brackets, {what} and {one} are functions or shapes, and the other fields are numbers.
If the fix differs between frameworks, it is a dictionary with a text for each framework.
"""

from __future__ import annotations

FixText = str | dict[str, str]

SUSPECT_TEXTS: dict[str, tuple[str, FixText]] = {
    # A key is a cause, or a cause and a variant. A value is a message about the run, and the fix.
    "broadcast": (
        "{what}{line} combines the shapes {one} and {two}, which broadcast to {result}: each of the {n} values meets "
        "all {n} of the other side.",
        {
            "torch": "Give both the same shape: {x}.squeeze(-1) for the column, or {y}.unsqueeze(-1) for the row.",
            "tf": "Give both the same shape: tf.squeeze({x}, -1) for the column, or {y}[:, tf.newaxis] for the row.",
            "jax": "Give both the same shape: {x}.squeeze(-1) for the column, or {y}[:, None] for the row.",
        },
    ),
    "activation_twice": (
        "{what}{line} applies a {one} itself, and its input is the result of a {one} already{other}.",
        {
            "torch": "Leave out the {one} before the loss: give the loss the logits.",
            "tf": "Leave out the {one} before the loss, or use a loss with from_logits=False.",
            "jax": "Leave out the {one} before the loss: give the loss the logits.",
        },
    ),
    "not_optimized": (
        "It has a gradient, but no optimizer holds it: {steps} of {what}{line} did not change it.",
        {
            "torch": "Make the optimizer after the whole model is built, and give it all parameters: layers belong in "
            "nn.ModuleList, not in a list; what is added later, in optimizer.add_param_group. What is to stay as it is "
            "needs no gradient: requires_grad_(False).",
            "tf": "Pass all variables that should be trained to apply_gradients: zip(gradients, "
            "model.trainable_variables).",
        },
    ),
    "not_optimized model": (
        "It has a gradient, but no optimizer holds it, and no module of the block has it as a parameter: what is in a "
        "plain list, dictionary or object{line} is not found by model.parameters().",
        "Write nn.ModuleList([...]) or nn.ModuleDict({{...}}) there; a class with layers should be an nn.Module.",
    ),
    "not_optimized replaced": (
        "It has a gradient, but no optimizer holds it: the module was given it{line} after the optimizer was made.",
        "Make the optimizer after this line, or add what is new: optimizer.add_param_group({{'params': "
        "layer.parameters()}}).",
    ),
    "not_optimized another": (
        "It has a gradient, but no optimizer holds it: {steps} of {what}{line} changed only other parameters, none "
        "of which has a gradient of the block.",
        "Make the optimizer with the parameters of the model that computes the loss: after the model is copied, loaded "
        "or built again.",
    ),
    "not_applied": (
        "{n} backward passes{line} gave it a gradient, and no step of an optimizer used one.",
        {
            "torch": "Write optimizer.step() after backward().",
            "tf": "Write optimizer.apply_gradients(zip(gradients, variables)) after tape.gradient.",
        },
    ),
    "not_applied lost": (
        "{n} backward passes gave it a gradient, and the step{line} makes a new tensor that nothing uses: the variable "
        "stays as it is.",
        "Change the variable itself: v.assign_sub(rate * gradient).",
    ),
    "not_applied cleared": (
        "The gradient was cleared{line} before a step used it: step{other} found none.",
        "Clear gradients before backward(), or after step(): zero_grad(), backward(), step().",
    ),
    "not_applied rate": (
        "{n} steps of the optimizer changed nothing: the learning rate{line} is 0, or too small for the weights.",
        "Set the learning rate, or look at its schedule.",
    ),
    "accumulated": (
        "The gradient was not cleared after a step: the step{line} uses the gradients of earlier steps once more, "
        "{n} backward passes in all.",
        "Write optimizer.zero_grad() before each backward() that begins a step.",
    ),
    "vanishing": (
        "The gradient shrinks on its path through {what}{line}: of {from_:.2g} at the end {to:.2g} is left after {n} "
        "of them, {ratio:.1g} of it.",
        "Use relu, gelu or tanh with a normalization or residual connections between the layers, and check the "
        "initial weights.",
    ),
    "vanishing saturated": (
        "{what}{line} is saturated: of an adjoint of {from_:.2g} it passes {to:.2g}, {ratio:.1g} of it.",
        "Make its input smaller (scale or normalize it), or use a loss of logits.",
    ),
    "exploding": (
        "The gradient grows on its path through {what}{line}: from {from_:.2g} at the end to {to:.2g} after {n} of "
        "them.",
        "Make the weights smaller at the beginning (an orthogonal matrix for a recurrence), normalize between the "
        "steps, or clip the norm of the gradient.",
    ),
    "exploding steps": (
        "Training diverges: the gradient grew from {from_:.2g} to {to:.2g} in {n} steps{line}, and one step changes "
        "the weight by {ratio:.2g} of its length.",
        "Use a smaller learning rate, and the mean over the batch where the loss is a sum.",
    ),
    "rounding_only": (
        "What passes {what}{line} is rounding only: {to:.1g} of an adjoint of {from_:.2g}. The same adjoint comes to "
        "all elements, and their sum does not depend on the input.",
        "Use a result that changes with the input: not the sum or the mean of all that a softmax or a normalization "
        "gives.",
    ),
    "sampled": (
        "The draw{line} passes no gradient, and the target uses it as if it did: only what log_prob or a divergence "
        "says of the distribution trains it.",
        "Draw with rsample(), which passes the gradient on.",
    ),
    "in_part": (
        "The gradient lacks a part: {what}{line} took a value out that was computed from it, and the target adds what "
        "came back as a constant.",
        "Add the tensor itself to the target, and take numbers out for printing only.",
    ),
    "in_part choice": (
        "The gradient lacks a part: {what}{line} has no slope, and the target adds what was computed with its result.",
        "Add a smooth relative of it to the target, such as a sigmoid for a comparison, or leave the term out.",
    ),
    "in_part cut": (
        "The gradient lacks a part: {what}{line} cuts off the whole of a term that the target adds, so that the term "
        "changes nothing.",
        "Cut off less of it, so that the term has a gradient, or leave the term out of the target.",
    ),
    "in_part derivative": (
        "The gradient lacks a part: a derivative{line} does not know how it was computed, and the target adds what "
        "came of it as a constant.",
        {
            "torch": "Keep its graph: torch.autograd.grad(..., create_graph=True).",
            "tf": "Call gradient of the inner tape inside the block of the outer one.",
        },
    ),
}


def find_message_and_fix(cause: str, variant: str, framework: str) -> tuple[str, str]:
    """Return the sentences for a suspicion: what the run shows, and how to fix it.

    Args:
        cause: The cause of the suspicion.
        variant: Which of the cause's sentences fits; "" for the ordinary one.
        framework: The name of the framework's dialect: "torch", "tf" or "jax".

    Returns:
        The message and the fix, both with fields to fill in.

    >>> find_message_and_fix("broadcast", "", "jax")[1]
    'Give both the same shape: {x}.squeeze(-1) for the column, or {y}[:, None] for the row.'
    """
    message, fix = SUSPECT_TEXTS[f"{cause} {variant}".strip()]
    return message, fix if isinstance(fix, str) else fix[framework]
