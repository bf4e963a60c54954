"""Describe the first non-finite value of a run, and a second run in which this value was recorded."""

from math import isnan

from ...engine.types import FloatSequence, JsonObject
from ...explain.caller import format_place_suffix
from ...explain.translated_sentences import fill
from .accounts import Anomaly


def describe_first_nonfinite_value(anomaly: Anomaly, losses: FloatSequence) -> str:
    """Return a sentence that describes the first non-finite value.

    Args:
        anomaly: The non-finite value.
        losses: The losses of the run.
    """
    place = format_place_suffix(anomaly.site)
    if anomaly.kind == "loss":
        value = losses[anomaly.pass_number - 1]
        return fill("The loss of backward pass {n}{line} is {value}.", n=anomaly.pass_number, line=place, value=value)
    if anomaly.kind == "gradient":
        return fill("The gradients of backward pass {n}{line} are not finite.", n=anomaly.pass_number, line=place)
    return fill(
        "The optimizer step{line} after backward pass {n} made some weights NaN or infinite.",
        n=anomaly.pass_number,
        line=place,
    )


def describe_second_run_and_compare_losses(answer_of_copy: JsonObject, first_run_losses: FloatSequence) -> str:
    """Return sentences that describe the second run, which recorded the non-finite step, and compare it with the first.

    Args:
        answer_of_copy: The JSON answer from the copy that recorded the step.
        first_run_losses: The losses of the first run.
    """
    number = answer_of_copy["pass"]
    start = answer_of_copy["from_pass"]
    if start:
        text = fill(
            "A copy of the process that was made at backward pass {start} continued from there and recorded backward "
            "pass {n}.",
            start=start,
            n=number,
        )
    else:
        text = fill("A second run with the same random seeds recorded backward pass {n}.", n=number)
    compared = number - 1 - start
    different = find_first_pass_with_different_loss(answer_of_copy, first_run_losses)
    if not compared:
        return text
    comparison = fill("The {n} losses before that pass are bit-for-bit identical in both runs.", n=compared)
    if different:
        comparison = fill(
            "The losses of the two runs differ from backward pass {n} on, so this may not be the step that went wrong "
            "in the first run.",
            n=different,
        )
    return f"{text} {comparison}"


def find_first_pass_with_different_loss(answer_of_copy: JsonObject, first_run_losses: FloatSequence) -> int:
    """Return the number of the first backward pass whose loss differs between two runs, or 0 if all losses agree.

    Args:
        answer_of_copy: The copy's JSON answer.
        first_run_losses: The losses of the first run.
    """
    pairs = zip(answer_of_copy["losses"][: answer_of_copy["pass"] - 1], first_run_losses, strict=False)
    return next(
        (
            number
            for number, (first, second) in enumerate(pairs, 1)
            if first != second and not (isnan(first) and isnan(second))
        ),
        0,
    )
