"""Describe the causes of wrong gradients that recorded numbers or object identities reveal."""

from ..fixes import edits as edit
from .cause import Cause

CAUSES = (
    Cause(
        "broadcast",
        "suspect",
        """
        [all]
        {what}{line} combines the shapes {one} and {two}, and they broadcast to {result}. Each of the {n} values on one
        side is combined with all {n} values on the other side.
        Fix in tape, tensorflow: Give both operands the same shape: use tf.squeeze({x}, -1) for the column, or {y}[:,
        tf.newaxis] for the row.
        Fix in torch: Give both operands the same shape: use {x}.squeeze(-1) for the column, or {y}.unsqueeze(-1) for
        the row.
        Fix in jax: Give both operands the same shape: use {x}.squeeze(-1) for the column, or {y}[:, None] for the row.

        [torch: labels]
        The index{line} takes the columns of all {n} labels from each of the {n} rows. The loss therefore combines each
        sample with the labels of all samples.
        Fix: Take one element from each row: x[torch.arange(len(labels)), labels]. Or use nll_loss or cross_entropy.
        """,
        edits=(edit.squeeze_column,),
    ),
    Cause(
        "wrong_axis",
        "suspect",
        """
        [torch: sequence]
        The operation{line} takes one of the {n} examples, or their mean, from a result of shape {one}. The layer that
        computed it{other} was created without batch_first=True, so it takes the first axis for the time steps and the
        second one for the examples.
        Fix: If the first axis holds the examples, create the layer with batch_first=True. Otherwise, use the first
        axis here.

        [torch: view]
        {what}{line} turns a tensor of shape {one} into the shape {two}, but it does not exchange any axes. It keeps
        the order of all elements, so it mixes elements of different examples, time steps or channels.
        Fix: Use transpose or permute, which exchange axes.

        [torch: state]
        {what}{line} turns a final state of shape {one} into the shape {two}. The examples are on its second axis, and
        {what} keeps the order of all elements, so each of the {n} rows mixes the states of several examples.
        Fix: Exchange the first two axes first: state.transpose(0, 1).reshape({n}, -1).

        [torch: softmax]
        {what}{line} divides a total of 1 among the {n} examples, so the result for one example depends on the others.
        Its result is used as if it were one distribution for each example.
        Fix: Take the {what} over the classes or the keys, for example with dim=-1.
        """,
    ),
    Cause(
        "activation_twice",
        "suspect",
        """
        [all]
        {what}{line} applies a {one} itself, but its input is already the result of a {one}{other}.
        Fix in tape, tensorflow: Remove the {one} before the loss, or use a loss with from_logits=False.
        Fix in torch, jax: Remove the {one} before the loss, and pass the logits to the loss.
        """,
    ),
    Cause(
        "loss_input",
        "suspect",
        """
        [tensorflow]
        The loss{line} expects probabilities, but it received values below 0 or above 1, as if they were logits.
        Fix: Write from_logits=True in the loss, or end the model with a softmax (for one of several classes) or a
        sigmoid.

        [tensorflow: swapped]
        The loss{line} received the prediction as its first argument and the labels as its second, but a Keras loss
        expects the labels first.
        Fix: Swap the arguments: loss(labels, prediction).

        [tensorflow: targets]
        The binary cross-entropy{line} received labels outside the range from 0 to 1. The loss then has no lower bound.
        Fix: Use the labels 0 and 1. For class numbers with more than two classes, use
        sparse_categorical_crossentropy. For the labels -1 and 1, use a hinge loss, or (labels + 1) / 2.

        [jax: swapped]
        {what}{line} takes the logarithm of constant labels, because it received them as its first argument. An optax
        loss expects the logits first.
        Fix: Swap the arguments: {what}(logits, labels).

        [torch: nll_loss]
        nll_loss{line} expects log-probabilities, but it received values from {one:.3g} to {two:.3g}, and the logarithm
        of a probability is never positive. For such values, the loss has no lower bound.
        Fix: If these values are logits, apply log_softmax to them, or use cross_entropy with them. If they are
        probabilities, pass their logarithm.

        [torch: kl_div]
        kl_div{line} expects log-probabilities as its first argument, but it received values from {one:.3g} to
        {two:.3g}, and the logarithm of a probability is never positive.
        Fix: Compute the first argument with log_softmax. The second argument contains probabilities, unless log_target
        is True.

        [torch: softmax]
        The softmax{line} returns probabilities, but {what}{other} expects their logarithms.
        Fix: Write log_softmax instead of softmax there, or nn.LogSoftmax instead of nn.Softmax. Another softmax after
        this one would make the probabilities almost equal.

        [torch: targets]
        The targets of {what}{line} reach from {one:.3g} to {two:.3g}, but this loss expects targets from 0 to 1. The
        loss then has no lower bound.
        Fix: Use the targets 0 and 1. For class numbers with more than two classes, use cross_entropy.

        [torch: swapped]
        {what}{line} received the labels as its first argument and the prediction as its second.
        Fix: Swap the arguments: {what}(prediction, labels).

        [torch: unreached]
        The prediction is the result of {what}{line}, which cannot reach {n} of the {all} targets. These targets go from
        {one:.3g} to {two:.3g}.
        Fix: Leave out {what} after the last layer, or scale the targets to its range.
        """,
    ),
    Cause(
        "wrong_derivative",
        "suspect",
        """
        [torch]
        The backward of {what}{line} is not the derivative of its forward. Along a random direction, a finite difference
        gives the slope {two:.3g}, but the gradients that backward returns give {one:.3g}.
        Fix: Correct the formulas in backward. To check each input, call torch.autograd.gradcheck({what}.apply, ...)
        with tensors of type float64. If the backward differs on purpose, write "surrogate" in the docstring of {what}.

        [jax]
        The derivative rule of {what}{line} does not return the derivative of {what}. At the recorded values, it is
        wrong by {ratio:.0%}.
        Fix: Correct the formulas in the rule. To check it, call jax.test_util.check_grads({what}, args, order=1). If
        the rule differs on purpose, write "surrogate" in the name of {what}.
        """,
    ),
    Cause(
        "not_optimized",
        "suspect",
        """
        [torch, tensorflow]
        The parameter has a gradient, but no optimizer updates it: {steps} of {what}{line} did not change it.
        Fix in torch: Create the optimizer after the whole model is built, and pass it all parameters. Put layers in
        nn.ModuleList, not in a plain list. Add later parameters with optimizer.add_param_group. If a parameter should
        not be trained, call requires_grad_(False) on it.
        Fix in tensorflow: Pass apply_gradients every variable that should be trained: zip(gradients,
        model.trainable_variables).

        [tensorflow: untracked]
        {what} is a tf.Variable{line}, and a Keras layer does not track a tf.Variable. It is missing from the layer's
        trainable_variables, so it is not trained.
        Fix: Create it with self.add_weight(...) or keras.Variable. If it should not be trained, pass trainable=False.

        [tensorflow: loss]
        The loss depends on {what}{line}, which is a variable with trainable=True, but the program does not request
        its gradient.
        Fix: In a custom training loop, add it to the variables of tape.gradient and apply_gradients. For compile() and
        fit(), make it a weight of a layer with self.add_weight(...).

        [tensorflow: remade]
        Each step creates new variables{line}, {n} times so far. They begin with new random values, and no optimizer
        trains them.
        Fix: Create the layer only once, for example in __init__ or before the training loop, and then call it here.

        [torch: model]
        The parameter has a gradient, but no optimizer updates it, and no module in the block has registered it.
        model.parameters() does not find parameters in a plain list, dictionary or object{line}.
        Fix: Use nn.ModuleList([...]) or nn.ModuleDict({{...}}) there. A class that contains layers should be an
        nn.Module.

        [torch: unregistered]
        The tensor that was created{line} has a gradient, but no optimizer updates it. model.parameters() lists only
        nn.Parameter objects that are attributes of a module.
        Fix: If it should be trained, assign nn.Parameter(...) to an attribute of the module, or pass the tensor to the
        optimizer. Other operations, such as unsqueeze() or to(), belong inside the brackets: their result is not an
        nn.Parameter. If it should not be trained, leave out requires_grad=True.

        [torch: replaced]
        The parameter has a gradient, but no optimizer updates it, because it was added to its module{line} after the
        optimizer was created.
        Fix: Create the optimizer after this line, or add the new parameters with optimizer.add_param_group({{'params':
        layer.parameters()}}).

        [torch: shared]
        The parameter has a gradient, but no optimizer holds it. The optimizer{line} holds exactly the same parameters
        as another optimizer{other}.
        Fix: Check the parameters that these two optimizers are created with. One of them should probably hold this
        parameter.

        [torch: another]
        The parameter has a gradient, but no optimizer updates it: {steps} of {what}{line} changed only other
        parameters, and none of these has a gradient in the block.
        Fix: Create the optimizer with the parameters of the model that computes the loss, and only after the model has
        been copied, loaded or rebuilt.

        [torch: late]
        The parameter received a gradient in {n} backward passes, but it has not changed since the first pass. It was
        created{line} after the last optimizer had been created{made}, so no optimizer updates it.
        Fix: Create the optimizer after the parameter, or add the parameter with optimizer.add_param_group({{'params':
        [...]}}).

        [torch: remade]
        {n} parameters were created{line}, one after the other. Each of them got a gradient but was replaced before a
        step could change it.
        Fix: Create the layer once, in __init__(), and create the optimizer after the model.
        """,
    ),
    Cause(
        "not_applied",
        "suspect",
        """
        [torch, tensorflow]
        The parameter received a gradient in {n} backward passes{line}, but no optimizer step used it.
        Fix in torch: Call optimizer.step() after backward().
        Fix in tensorflow: Call optimizer.apply_gradients(zip(gradients, variables)) after tape.gradient.

        [torch: cleared]
        The gradient was cleared{line} before a step used it, so the step{other} found no gradient.
        Fix: Clear the gradients before backward() or after step(). A correct order is zero_grad(), backward(), step().

        [torch, tensorflow, jax: rate]
        {n} optimizer steps changed nothing, because the learning rate{line} is 0 or too small for the weights.
        Fix: Set the learning rate, or check its schedule.

        [torch: decayed]
        In {n} of {all} optimizer steps, the learning rate{line} was so small that nothing was learned: it fell from
        {from_:.2g} to {rate:.1g}.
        Fix: Check the schedule. If it counts epochs, call scheduler.step() once for each epoch, and not for each batch.
        If it is a ReduceLROnPlateau, check its mode.

        [tensorflow, jax: decayed]
        After step {n} of {all}, the learning rate{line} was so small that nothing was learned: it fell from {from_:.2g}
        to {rate:.1g}.
        Fix in tensorflow: Check decay_steps. A Keras schedule counts optimizer steps, not epochs, so multiply a number
        of epochs by the number of steps per epoch.
        Fix in jax: Check the length of the schedule. An optax schedule counts updates, not epochs, so multiply a number
        of epochs by the number of updates per epoch.

        [jax: dropped]
        {n} steps computed new values{line}, but each subsequent step started from the old values.
        Fix: Return the new parameters from the step, and pass them to the next step. To change a module of flax.nnx in
        place, compile the step with nnx.jit. jax.jit only changes a copy of it.

        [jax: raw]
        Each step adds the gradient itself to the parameter, so the loss grows. optax.masked{line} does not change the
        gradients that its mask leaves out.
        Fix: Use optax.multi_transform, with optax.set_to_zero() for the parameters that should not change and an
        optimizer for the rest.

        [jax: unchanged]
        The gradient was computed {n} times in a row for the same values, because the steps{line} did not change any of
        the parameters.
        Fix: Check the learning rate, and check that the next step receives the new parameters.

        [torch: lost]
        The parameter received a gradient in {n} backward passes, but the update{line} creates a new tensor that nothing
        uses, so the parameter does not change.
        Fix: Change the parameter itself, under torch.no_grad(): p -= rate * p.grad.

        [tensorflow: lost]
        The variable received a gradient in {n} backward passes, but the step{line} creates a new tensor that nothing
        uses, so the variable does not change.
        Fix: Change the variable itself: v.assign_sub(rate * gradient).

        [tensorflow: pairs]
        The optimizer step{line} applies gradients to the wrong variables: the list of gradients and the list of
        variables contain the same variables in a different order.
        Fix: Use one list for both: gradients = tape.gradient(loss, variables), and then zip(gradients, variables).

        [tensorflow: empty]
        The optimizer step{line} received no gradients, because one of its lists is empty. A layer has no variables
        before it is built, and a list of its variables does not grow later.
        Fix: Call the model on a batch before you make lists from its variables.

        [torch: rounded]
        {n} steps{line} with the learning rate {rate:g} used a gradient of norm {norm:.2g}, but no element changed.
        The updates are so small relative to the weights that they are lost to rounding in {dtype}.
        Fix: Keep the weights in float32, and compute in half precision with torch.autocast.

        [torch: converted]
        The weights were converted to {dtype}{line}. {n} steps with the learning rate {rate:g} used a gradient of norm
        {norm:.2g}, but no element changed, because the updates are so small relative to the weights that they are lost
        to rounding.
        Fix: Keep the weights in float32, and compute in half precision with torch.autocast.

        [jax: rounded]
        No element changed in any of {n} steps{line}, because the updates are lost to rounding. A typical update is
        {rate:.1g}, but neighboring numbers in {dtype} are typically {step:.1g} apart at these values.
        Fix: Keep the parameters in float32, and cast them to {dtype} only where the loss is computed.

        [torch: undone]
        Each step{line} changes the parameter, but before the next step it has its old values again.
        Fix: Look for code that restores the old weights between two steps, such as load_state_dict() or copying back a
        saved version.
        """,
    ),
    Cause(
        "accumulated",
        "suspect",
        """
        [torch]
        The gradient was not cleared after a step, so the step{line} uses the gradients of earlier steps again, from {n}
        backward passes in total.
        Fix: Call optimizer.zero_grad() before the first backward() of each step.

        [tensorflow]
        The step{line} applies {name}, to which the program adds gradients, but nothing ever resets {name} to zero. Each
        step therefore also uses the gradients of all earlier steps.
        Fix: Reset the variables after each step: for total in {name}: total.assign(tf.zeros_like(total)).
        """,
    ),
    Cause(
        "vanishing",
        "suspect",
        """
        [torch, tensorflow, jax]
        The gradient shrinks on its path through {what}{line}. After {n} such operations, it has gone from {from_:.2g}
        to {to:.2g}, a factor of {ratio:.1g}.
        Fix: Use relu, gelu or tanh with a normalization or residual connections between the layers, and check the
        initial weights.

        [torch, tensorflow, jax: saturated]
        {what}{line} is saturated. It receives an adjoint of {from_:.2g} and passes back only {to:.2g}, a factor of
        {ratio:.1g}.
        Fix: Make its input smaller (scale or normalize it), or use a loss that takes logits.
        """,
    ),
    Cause(
        "exploding",
        "suspect",
        """
        [torch, tensorflow, jax]
        The gradient grows on its path through {what}{line}. After {n} such operations, it has gone from {from_:.2g} to
        {to:.2g}.
        Fix: Use smaller initial weights (for a recurrence, an orthogonal matrix), normalize between the steps, or clip
        the gradient norm.

        [torch, tensorflow: steps]
        Training diverges: the gradient grew from {from_:.2g} to {to:.2g} in {n} steps{line}, and a single step changes
        the weight by {ratio:.2g} times its norm.
        Fix: Use a smaller learning rate. If the inputs of the model are much larger than 1, standardize them first. If
        the loss is a sum over the batch, use the mean instead.

        [torch: run]
        Training diverges: the norm of the gradient{line} has grown from {from_:.2g} in the first step to {to:.2g}, and
        the loss has grown with it.
        Fix: Use a smaller learning rate, or clip the gradients between backward() and step().

        [torch: half]
        A step on finite gradients made weights NaN or infinite. The optimizer{line} adds eps={eps:g} before it divides,
        so that it does not divide by zero, but its numbers are float16, and there {eps:g} is 0.
        Fix: Keep the weights in float32, and compute the loss under torch.autocast. Or pass a larger eps, such as 1e-4.

        [torch: rate]
        The learning rate{line} has grown from {from_:g} to {to:g} in this run, and the training diverged.
        Fix: Check the schedule. If it counts epochs, call scheduler.step() once for each epoch, and not for each batch.
        """,
    ),
    Cause(
        "rounding_only",
        "suspect",
        """
        [torch, tensorflow, jax]
        {what}{line} passes back only rounding error: {to:.1g} of an adjoint of {from_:.2g}. All elements receive the
        same adjoint, and their sum does not depend on the input.
        Fix: Use a result that changes with the input. The sum or mean of all outputs of a softmax or a normalization is
        the same for every input.
        """,
    ),
    Cause(
        "cancelled",
        "suspect",
        """
        [torch]
        The expression{line} adds a value and subtracts it again. Its result does not depend on this value, so no
        gradient passes through it to the parameters that computed the value.
        Fix: If this value should receive the gradient of the result, as in a straight-through estimator, detach the
        difference: z + (q - z).detach().
        """,
    ),
    Cause(
        "equal_units",
        "suspect",
        """
        [torch]
        All {n} rows of the weight are equal, and they were still equal after {all} steps. The {n} units of this layer
        compute the same result, so they work like a single unit. The program sets all elements of a tensor to the same
        value{line}.
        Fix: Begin with random weights, for example with nn.init.xavier_uniform_ or nn.init.kaiming_uniform_. Only
        biases may all begin with the same value.
        """,
    ),
    Cause(
        "sampled",
        "suspect",
        """
        [torch]
        The sample{line} passes no gradient back, but the target uses it as if it did. The distribution is trained only
        through log_prob or a divergence.
        Fix: Draw the sample with rsample(), so that the gradient flows through it.

        [torch: normal]
        torch.normal{line} draws a sample, and autograd sends zeros back to its mean and standard deviation. The target
        uses the sample as if a gradient flowed through it.
        Fix: Draw the sample with mean + std * torch.randn_like(std), or with torch.distributions.Normal(mean,
        std).rsample().
        """,
        edits=(edit.replace_sample_by_rsample,),
    ),
    Cause(
        "in_part",
        "suspect",
        """
        [all]
        Part of the gradient is missing. {what}{line} detached a value that was computed from the parameter, and the
        target adds a constant that depends on the detached value.
        Fix: Add the tensor itself to the target, and convert it to a number only for printing.

        [all: choice]
        Part of the gradient is missing. {what}{line} passes no gradient back, and the target adds a value that was
        computed from its result.
        Fix: Use a smooth function instead, such as a sigmoid for a comparison, or leave the term out of the target.

        [all: cut]
        Part of the gradient is missing. {what}{line} blocks the gradient of an entire term that the target adds, so the
        term trains nothing.
        Fix: Let the gradient pass where the term should train something, or leave the term out of the target.

        [torch: repeated]
        Part of the sum is missing. The index{line} contains repeated elements, and x[index] += y keeps only one of the
        additions to an element: {n} of {all} additions are lost.
        Fix: Use x = x.index_add(0, index, y), which adds all of them.

        [tensorflow: losses]
        Part of the gradient is missing. The target{line} does not add the losses of {what}, which come from
        add_loss() or a regularizer.
        Fix: Add them to the target: loss = loss + sum(model.losses).

        [torch: second]
        Part of the gradient is missing. The second derivative of {what}{line} is zero everywhere, because the function
        is piecewise linear. It therefore contributes nothing to the gradient.
        Fix: Use a smooth activation function if you need second derivatives: tanh, softplus or silu.

        [torch: steps]
        Part of the gradient is missing. {what}{line} cuts off the result of the previous iteration, {n} times in
        total, so only the last iteration gets a gradient.
        Fix: Remove the detach from the loop. Detach the state only between backward passes.

        [tape, torch, tensorflow: derivative]
        Part of the gradient is missing. The computation of a derivative{line} was not recorded, so the derivative is a
        constant in the target.
        Fix in tape, tensorflow: Call the inner tape's gradient inside the outer tape's block.
        Fix in torch: Keep the graph of the derivative: torch.autograd.grad(..., create_graph=True).
        """,
        edits=(
            edit.build_call_unwrapping_edit("item", "detach", "stop_gradient"),
            edit.build_keyword_edit("create_graph", True, "grad"),
        ),
    ),
)
