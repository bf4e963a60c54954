"""Describe what can happen to gradients on their way to the weights. Only a whole training run shows these causes."""

from __future__ import annotations

from .cause import Cause

CAUSES = (
    Cause(
        "leftover",
        "suspect",
        """
        [torch]
        The step{line} also uses what the backward pass{from_} left in the gradient. That happened {n} times,
        and each time another optimizer had stepped on that pass already.
        Fix: Call zero_grad() of this optimizer before the backward pass{step}.
        """,
    ),
    Cause(
        "discarded",
        "suspect",
        """
        [torch]
        {n} of {all} backward passes{from_} were cleared{line} before a step used them.
        Fix: Clear the gradients only after a step, and not before each backward pass.
        """,
    ),
    Cause(
        "clipped_scaled",
        "suspect",
        """
        [torch]
        The gradients are clipped{line} while they are still multiplied by the scale {scale:g}, in {n} of {all}
        calls. The steps are too small by that factor.
        Fix: Call scaler.unscale_(optimizer) before the gradients are clipped.
        """,
    ),
    Cause(
        "not_clipped",
        "suspect",
        """
        [torch]
        The call{line} that clips the gradients received no parameters, in {n} of {all} calls. A generator such
        as model.parameters() is empty once something has read it.
        Fix: Pass a list, or call model.parameters() again.

        [torch: early]
        The call{line} that clips the gradients found no gradient, in {n} of {all} calls.
        Fix: Clip the gradients after backward() and before step().
        """,
    ),
    Cause(
        "scaler",
        "suspect",
        """
        [torch: never_updated]
        scaler.update() was never called, in {all} calls of scaler.step(){line}. {n} of these steps were skipped
        because gradients overflowed, and the scale stays {scale:g}.
        Fix: Call scaler.update() after scaler.step(optimizer).

        [torch: skips_all]
        GradScaler skipped all {n} steps{line}, because a gradient was not finite each time. The scale is
        {scale:g} now.
        Fix: If the scale falls and falls, the loss itself is NaN or infinite: look at the loss in float32.

        [torch: unscaled_loss]
        scaler.step(){line} divides the gradients by the scale {scale:g}, but the loss of {n} of {all} steps was
        not multiplied by it.
        Fix: Write scaler.scale(loss).backward().

        [torch: bypassed]
        The step{line} uses gradients that are still multiplied by the scale {scale:g}: optimizer.step() was
        called itself.
        Fix: Write scaler.step(optimizer) and scaler.update() instead of optimizer.step().
        """,
    ),
    Cause(
        "optimizer_remade",
        "suspect",
        """
        [torch]
        {n} optimizers were made{line} for the same parameters, and each took one step. An optimizer's moments
        begin at zero each time.
        Fix: Make the optimizer once, before the loop.
        """,
    ),
    Cause(
        "grad_off",
        "suspect",
        """
        [torch]
        Gradients are switched off since{line}, and the backward pass {n} ran with gradients off.
        Fix: Write `with torch.no_grad():` around the code that needs no gradients, so that they are on again
        after it.
        """,
    ),
    Cause(
        "stale_value",
        "suspect",
        """
        [jax]
        The compiled function still uses the value of {name} that it read{line} when it was traced. The program has
        replaced {name} since, so from call {n} on the compiled function and its Python code return different results.
        Fix: Pass {name} to the function as an argument.
        """,
    ),
)
