"""The sentences of ``explain`` that are the same for every framework; see the texts of a bridge for the words in braces."""

from __future__ import annotations

Texts = dict[str, tuple[str, str]]

SHARED: Texts = {
    # cause: (what happened, what mends it)
    "connected": ("{x} has a gradient.", ""),
    "dead_relu": ("All inputs of {what}{line} that matter here are negative, where its derivative is zero.",
        "Use leaky_relu, gelu or softplus, a smaller learning rate, or a positive bias at the beginning."),
    "saturated": ("{what}{line} is saturated: its input lies so far out that the derivative is zero.",
        "Make its input smaller (scale or normalize it), or work with the logits: "),
    "not_selected": ("{what}{line} takes other elements than those of {x}.",
        "Use all elements (a mean, a softmax-weighted sum), or choose those that you want gradients for."),
    "not_selected part": ("Of what {what}{line} put together, the target uses other elements than those of {x}.",
        "Use all elements, or leave {x} out of what is differentiated."),
    "zero_factor": ("{what}{line} multiplies by zeros, so what passes back is zero.",
        "Look at the other factor: weights that begin at zero, a mask without ones, or a coefficient of 0."),
    "zero_cancels": ("What {what}{line} computes does not depend on this input: its contributions cancel.",
        "Use a result that changes with {x}: for softmax or a normalization, not the sum or mean of all of it."),
    "zero_sum": ("The contributions to {x}{line} are not zero, and their sum is.", "Look at the signs: two uses of {x} cancel each other."),
    "zero_sum elements": ("Several elements{line} use it, and what they contribute to the gradient of {x} cancels out.",
        "Look at the signs: what some elements add, others take away."),
    "zero_factor underflow": ("What {what}{line} multiplies is too small for its type: the product became zero.",
        "Compute in a wider type, or scale the loss: multiply it by a large number, and divide the gradients by it."),
    "nan_forward": ("{what}{line} gives NaN or an infinity. Everything after it has that, too.", "Keep its input where it is finite: "),
    "nan_forward hidden": ("{what}{line} gives NaN or an infinity. The result does not show it, because it is masked later; its "
        "derivative is NaN or infinite all the same.",
        "Replace such elements before {what}, not only after it: "),
    "nan_input": ("{other}{line} holds NaN or an infinity before anything is computed.", "Look at the data: "),
    "nan_backward": ("The derivative of {what}{line} is infinite or NaN at its input. Its value is finite.",
        "Keep its input away from that point: "),
}


def table(own: Texts, functions: dict[str, str]) -> Texts:
    """The texts of a framework: its own, and the shared ones, to whose advice it adds its own functions.

    >>> table({}, {"nan_input": "torch.nan_to_num."})["nan_input"][1]
    'Look at the data: torch.nan_to_num.'
    """
    shared = {cause: (happened, mends + functions.get(cause, "")) for cause, (happened, mends) in SHARED.items()}
    return shared | own
