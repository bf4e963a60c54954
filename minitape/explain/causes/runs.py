"""Describe what can happen to gradients on their way to the weights. Only a whole training run shows these causes."""

from .cause import Cause

CAUSES = (
    Cause(
        "leftover",
        "suspect",
        """
        [torch]
        The step{line} also uses the gradient that the backward pass{from_} left behind. This happened {n} times, and
        each time a different optimizer had already used that pass for its own step.
        Fix: Call this optimizer's zero_grad() before the backward pass{step}.
        """,
    ),
    Cause(
        "discarded",
        "suspect",
        """
        [torch]
        The gradients of {n} of {all} backward passes{from_} were cleared{line} before a step used them.
        Fix: Clear the gradients only after a step, and not before each backward pass.
        """,
    ),
    Cause(
        "clipped_scaled",
        "suspect",
        """
        [torch]
        In {n} of {all} calls, the gradients are clipped{line} while they are still multiplied by the scale {scale:g},
        so the steps are too small by that factor.
        Fix: Call scaler.unscale_(optimizer) before you clip the gradients.
        """,
    ),
    Cause(
        "not_clipped",
        "suspect",
        """
        [torch]
        In {n} of {all} calls, the function that clips the gradients{line} received no parameters. A generator such as
        model.parameters() is empty once it has been read.
        Fix: Pass a list, or call model.parameters() again.

        [torch: early]
        In {n} of {all} calls, the function that clips the gradients{line} found no gradients.
        Fix: Clip the gradients after backward() and before step().

        [torch: late]
        In {n} of {all} calls, the gradients are clipped{line} only after the step that used them, so the steps use
        unclipped gradients.
        Fix: Clip the gradients after backward() and before step().

        [tensorflow: unused]
        The gradients are clipped{line}, but nothing uses {name}, the result of the clipping.
        Fix: Pass {name} to the optimizer instead of the original gradients.
        """,
    ),
    Cause(
        "state_not_kept",
        "suspect",
        """
        [jax]
        {n} steps in a row began with the same optimizer state, because the new state{line} is not kept. The step count
        and the averages of earlier gradients start again in each step.
        Fix: Create the state once, before the first step. Return the new state from each step, and pass it to the next.

        [jax: created]
        {n} steps in a row began with the same optimizer state, because each step creates a new state{line}. The step
        count and the averages of earlier gradients start again in each step.
        Fix: Create the state once, before the first step. Return the new state from each step, and pass it to the next.

        [jax: statistics]
        {n} steps began with the same batch_stats, because the new values that apply() returned{line} are not kept.
        If the model later uses them in evaluation, its results are wrong.
        Fix: Return the new values from the step, for example with has_aux=True, and pass them to the next step.

        [jax: key]
        {n} steps drew the same random numbers, because each of them used the same key{line}.
        Fix: Before each step, write key, subkey = jax.random.split(key), and pass subkey to the step.
        """,
    ),
    Cause(
        "scaler",
        "suspect",
        """
        [torch: never_updated]
        scaler.step(){line} was called {all} times, but scaler.update() was never called. {n} of these steps were
        skipped because gradients overflowed, and the scale stays at {scale:g}.
        Fix: Call scaler.update() after scaler.step(optimizer).

        [torch: skips_all]
        GradScaler skipped all {n} steps{line}, because a gradient was not finite in each of them. The scale is now
        {scale:g}.
        Fix: If the scale keeps falling, the loss itself is NaN or infinite. Check the loss in float32.

        [torch: unscaled_loss]
        scaler.step(){line} divides the gradients by the scale {scale:g}, but in {n} of {all} steps the loss was not
        multiplied by the scale.
        Fix: Write scaler.scale(loss).backward().

        [tensorflow: unscaled_loss]
        The gradients{line} were computed from the unscaled loss, but LossScaleOptimizer divides them by its scale in
        each step. The steps are too small by that factor.
        Fix: Write loss = optimizer.scale_loss(loss) inside the tape's block, and take the gradient of this loss.

        [tensorflow: scaled_twice]
        The loss is scaled again{line} although it was already scaled. LossScaleOptimizer divides the gradients by its
        scale only once, so the steps are too large by that factor.
        Fix: Call optimizer.scale_loss(loss) only once for each step.

        [torch: bypassed]
        The step{line} uses gradients that are still multiplied by the scale {scale:g}, because optimizer.step() was
        called directly.
        Fix: Write scaler.step(optimizer) and scaler.update() instead of optimizer.step().
        """,
    ),
    Cause(
        "swapped_average",
        "suspect",
        """
        [jax]
        After each update{line}, {name} is almost equal to {what}. optax.incremental_update takes the new values first,
        but here {name} comes first, so it keeps only the fraction step_size.
        Fix: Write optax.incremental_update({what}, {name}, ...).
        """,
    ),
    Cause(
        "wrong_sign",
        "suspect",
        """
        [jax]
        In {n} steps in a row, all parameters moved in the direction of the gradient of {what}, because the step{line}
        adds the gradient. Each step therefore makes {what} larger.
        Fix: Subtract the gradient, as in p - rate * g.

        [jax: chain]
        In {n} steps in a row, all parameters moved in the direction of the gradient of {what}, because no part of the
        optimizer{line} changes the sign. Each step therefore makes {what} larger.
        Fix: End the chain with optax.scale_by_learning_rate(rate), or with optax.scale(-1.0) after a schedule.
        """,
    ),
    Cause(
        "optimizer_remade",
        "suspect",
        """
        [torch]
        {n} optimizers were created{line} for the same parameters, and each took only one step. The moments of each new
        optimizer start at zero.
        Fix: Create the optimizer once, before the loop.

        [tensorflow]
        {n} optimizers in a row took only one step each{line}. The moments of each new optimizer start at zero.
        Fix: Create the optimizer once, before the loop.
        """,
    ),
    Cause(
        "schedule",
        "suspect",
        """
        [torch: fast]
        {what} was created for {one} steps, but scheduler.step(){line} was called {n} times, once for each optimizer
        step, so the learning rate has fallen and risen again.
        Fix: If this is not intended, call scheduler.step() once for each epoch, or create the schedule for the number
        of optimizer steps.

        [torch: slow]
        {what} was created for {one} steps, and the optimizer took {all} steps, but scheduler.step() was called
        only {n} times{line}. The learning rate has hardly begun to follow its schedule.
        Fix: Call scheduler.step() after each optimizer.step().

        [torch: other]
        {what}{line} changes the learning rate of an optimizer that takes no steps. Another optimizer{other} trains the
        same parameters, and its learning rate does not change.
        Fix: Create the schedule after the optimizer, and pass it the optimizer that takes the steps.

        [torch: factor]
        The optimizer was created with the learning rate {from_:g}, but in {all} steps it used at most {to:.2g}. The
        function that LambdaLR receives{line} returns a factor for the learning rate, not the learning rate itself.
        Fix: Return a factor that is 1 when the optimizer should use its full learning rate.

        [tensorflow: attribute]
        The program sets the attribute lr{line}, but a Keras optimizer does not read it. The steps use the learning
        rate {rate:g}.
        Fix: Set optimizer.learning_rate instead.
        """,
    ),
    Cause(
        "layer_mode",
        "suspect",
        """
        [torch]
        {what} was in training mode in {n} calls without gradients{line}. If this is an evaluation, its result depends
        on the rest of the batch or on random numbers.
        Fix: Call model.eval() before the evaluation, and model.train() after it.

        [torch: fixed]
        {what} was in evaluation mode{line} in the last {n} of {all} calls with gradients, although the model was being
        trained.
        Fix: If this is not intended, call model.train() at the start of each epoch.

        [tensorflow]
        {what} ran in inference mode{line} in the training step. Its moving mean and variance still have their initial
        values, 0 and 1, so it does not normalize at all.
        Fix: Call the model with training=True in the training step.

        [torch: always]
        {what}{line} drops values even after model.eval(), because the call does not depend on the mode of the model.
        Fix: Pass training=self.training to a function, or create the layer once in __init__().

        [torch: frozen]
        The weight of {what} does not require a gradient, but the layer was in training mode in {n} calls{line}. Each
        call changes its running mean and variance, which also changes the outputs of the frozen part.
        Fix: If the layer should not change, call eval() on it after each model.train().
        """,
    ),
    Cause(
        "frozen_moved",
        "suspect",
        """
        [torch]
        The optimizer{line} changes the parameter although its requires_grad is False. Its .grad is a tensor of zeros or
        an old gradient, so momentum, weight decay or the old gradient still moves it.
        Fix: Set .grad to None after freezing the parameter, with optimizer.zero_grad(set_to_none=True) or p.grad =
        None. Or create an optimizer without this parameter.
        """,
    ),
    Cause(
        "no_effect",
        "suspect",
        """
        [torch]
        The program sets {name} to False{line}, but PyTorch does not read this attribute, so the parameters still get
        gradients and change.
        Fix: Write requires_grad_(False) to freeze a parameter or all parameters of a module, or p.requires_grad =
        False for a parameter.

        [torch: stacked]
        The last layer of {what}{line} has no effect on the loss, because the loss does not use its result. The
        gradients of {n} of the {all} parameters are zero in each step.
        Fix: Use h_n[-1], the state of the last layer, instead of h_n[0], or use the output sequence.

        [torch: loaded]
        load_state_dict(){line} changes nothing, because each tensor in the given state is a parameter of the {what}
        itself. state_dict() returns the parameters, not copies of them.
        Fix: Save copy.deepcopy(model.state_dict()). If the state belongs to a second network, create that network with
        copy.deepcopy(model).

        [torch: optimizer]
        The program sets the attribute {name} of the optimizer{line}, but a step does not read it. The steps use {one},
        not {two}.
        Fix: Write: for group in optimizer.param_groups: group["{name}"] = value. Or use a schedule of
        torch.optim.lr_scheduler.
        """,
    ),
    Cause(
        "target_gradient",
        "suspect",
        """
        [torch]
        The target{line} adds data to the output of a model, and it has a gradient, like the prediction with which it is
        compared. The loss therefore also moves the target towards the prediction.
        Fix: If the target should be a constant, as in Q-learning, compute this output under torch.no_grad(), or write
        .detach().

        [torch: advantage]
        The difference of data and a prediction{line} is a factor of a log-probability, and it has a gradient. The loss
        of the policy therefore also trains the model that makes the prediction, and pushes its output in the wrong
        direction.
        Fix: If the factor is an advantage, write advantage.detach() in the loss of the policy.
        """,
    ),
    Cause(
        "grad_off",
        "suspect",
        """
        [torch]
        Gradients were switched off{line}, and backward pass {n} ran while they were still off.
        Fix: Wrap the code that needs no gradients in `with torch.no_grad():`, so that gradients are switched back on
        afterwards.
        """,
    ),
    Cause(
        "stale_value",
        "suspect",
        """
        [jax, tensorflow]
        The compiled function still uses the value of {name} that it read{line} when it was traced. The program has
        since replaced {name}, so from call {n} on, the compiled function and its Python code use different values.
        Fix in jax: Pass {name} to the function as an argument.
        Fix in tensorflow: Keep {name} in a tf.Variable and assign to it, or pass it to the function as a tensor.

        [tensorflow: counted]
        The statement{line} changes {name} only while the function is traced, because the compiled function does not
        repeat it. From call 2 on, the compiled function keeps using the value of {name} in its trace.
        Fix: Keep {name} in a tf.Variable, and change it with assign_add().

        [jax, tensorflow: drawn]
        {name} drew random numbers{line} only while the function was traced. The compiled function uses the same numbers
        again in each call.
        Fix in jax: Draw them with jax.random and a new key for each call, or pass them to the function as an argument.
        Fix in tensorflow: Draw them with tf.random, or pass them to the function as a tensor.

        [tensorflow: state]
        The compiled function still uses the object that {name} stood for when it was traced{line}. The program has
        since replaced {name}, so from call {n} on, the compiled function and its Python code use different objects.
        Fix: Keep the object and change its value, for example with {name}.learning_rate.assign(0.01) for an optimizer
        or {name}.assign(value) for a variable. Otherwise, create the tf.function again.

        [tensorflow: trainable]
        The compiled step trains the variables of {name} that were trainable when the step was traced. The program has
        since changed `trainable`{line}, so from call {n} on, the step does not train the variables that
        are trainable now.
        Fix: Call compile() again after changing `trainable`. In a custom training loop, create the tf.function again.

        [torch: closure]
        The closure that step(){line} receives computes no gradient. LBFGS calls it after each change of the parameters,
        so every change after the first in a step uses an old loss and an old gradient.
        Fix: Call zero_grad(), compute the loss and call backward() inside the closure.
        """,
    ),
    Cause(
        "same_batch",
        "suspect",
        """
        [torch]
        Each of the {n} recorded steps uses the same first batch, because the loop begins to read the data loader again
        each time{line}. The other batches are never used.
        Fix: Write `for batch in loader:`, or create the iterator with iter(loader) once, before the loop.

        [tensorflow]
        {n} steps used the first batch of the dataset, because next(iter(...)){line} begins again at the first batch
        each time.
        Fix: Write batches = iter(dataset.repeat()) once before the loop, and next(batches) in the loop.
        """,
    ),
)
