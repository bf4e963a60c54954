"""The sentences of ``explain`` that are the same for every framework; see the texts of a bridge for the words in
braces; {functions} are those of the framework that fix it.
"""

from __future__ import annotations

Texts = dict[str, tuple[str, str]]
TENSOR, ARRAY = "the tensor", "the array"  # one without a name
MISSING, ZERO, NOT_FINITE = "no gradient", "a gradient of zeros only", "a gradient with NaN or infinity"

SHARED: Texts = {
    # cause: (what happened, what fixes it)
    "connected": ("{x} has a gradient.", ""),
    "dead_relu": (
        "{what}{line} passes no gradient: the inputs that count here are negative.",
        "Use leaky_relu, gelu or softplus, a smaller learning rate, or a positive bias at the beginning.",
    ),
    "saturated": (
        "{what}{line} is flat at its input{values}. Its derivative there is zero.",
        "Make its input smaller (scale or normalize it), or work with the logits: {functions}",
    ),
    "not_selected": (
        "{what}{line} takes other elements than those of {x}.",
        "Use all elements (a mean, a softmax-weighted sum), or choose those that you want gradients for.",
    ),
    "not_selected part": (
        "The target uses other elements of what {what}{line} put together than those of {x}.",
        "Use all elements, or leave {x} out of what is differentiated.",
    ),
    "zero_factor": (
        "{what}{line} multiplies by zeros, so what passes back is zero.",
        "Look at the other factor: weights that begin at zero, a mask without ones, or a coefficient of 0.",
    ),
    "zero_cancels": (
        "What comes back through {what}{line} cancels out. The result does not depend on {x}.",
        "Use a result that changes with {x}: for softmax or a normalization, not the sum or mean of all of it.",
    ),
    "zero_cancels difference": (
        "Both sides of {what}{line} change alike with {x}, which cancels out.",
        "Where one side is meant as a given number, such as a sample or a target, let it count as a constant. Of a "
        "single element the mean is the element: compare several.",
    ),
    "zero_cancels one": (
        "{what}{line} of a single value is always 1.",
        "Use a sigmoid for one unit, or a unit for each class.",
    ),
    "zero_sum": (
        "What the uses of {x}{line} contribute to its gradient adds up to zero.",
        "Look at the signs: two uses of {x} cancel each other.",
    ),
    "zero_sum elements": (
        "What several elements{line} contribute to the gradient of {x} adds up to zero.",
        "Look at the signs: what some elements add, others take away.",
    ),
    "zero_factor underflow": (
        "The product in {what}{line} is too small for its type, and became zero.",
        "Compute in a wider type, or scale the loss: multiply it by a large number, and divide the gradients by it.",
    ),
    "nan_forward": ("{what}{line} gives {values}.", "Keep its input where it is finite: {functions}"),
    "nan_forward grown": (
        "{what}{line} gives {values}: the numbers of its input are too large by then.",
        "The values or the weights have grown: take a smaller learning rate or smaller initial weights, clip the norm "
        "of the gradient, or normalize between the layers or turns. The step before may show where it began.",
    ),
    "nan_forward hidden": (
        "{what}{line} gives {values}. The value is masked later, and its derivative still counts.",
        "Replace such elements before {what}, not only after it: {functions}",
    ),
    "nan_input": (
        "{other}{line} holds NaN or an infinity before anything is computed.",
        "Look at the data: {functions}",
    ),
    "nan_input trained": (
        "{other}{line} holds NaN or an infinity before anything is computed.",
        "If it is a weight, an earlier step made it so: record that one, and lower the learning rate or clip the "
        "gradient.",
    ),
    "nan_backward": (
        "The derivative of {what}{line} is infinite or NaN at its input{values}.",
        "Keep its input away from that point: {functions}",
    ),
}
