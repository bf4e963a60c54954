"""Describe the answer that nothing is wrong, and the causes of errors and lost gradients."""

from ..fixes import edits as edit
from .cause import Cause

CAUSES = (
    Cause(
        "connected",
        "connected",
        """
        [tape]
        The target depends on {x}, and the tape recorded how.

        [torch, tensorflow, jax]
        {x} has a gradient.
        """,
    ),
    Cause(
        "in_place",
        "error",
        """
        [torch]
        {what}{line} changed a tensor in place, but autograd needs its original values.
        Fix: Create a new tensor instead of changing the existing tensor: write y = y + 1 instead of y += 1, relu(y)
        instead of relu_(y), and torch.stack of a list instead of y[i] = v.

        [torch: leaf]
        {what}{line} changes a leaf that requires grad in place, and autograd does not allow this.
        Fix: To set values, run this line under torch.no_grad(). To compute with changed values, change a copy: v =
        {x}.clone().

        [torch: parameter]
        Parameters were changed{line} before backward(), but autograd needs their values from the forward pass.
        Fix: Make all calls to backward() before that line, or compute the loss again after that line.

        [torch: carried]
        {what}{line} was computed in an earlier step, and this step uses it{other}. The parameters in its graph have
        changed since then, but autograd needs their old values.
        Fix: Keep the value without its graph: write .detach() on this line, or state = state.detach() after this line.
        You can then remove retain_graph=True.

        [torch: carried_tuple]
        {what}{line} was computed in an earlier step, and this step uses it{other}. The parameters in its graph have
        changed since then, but autograd needs their old values.
        Fix: Keep the values without their graph: write {what} = tuple(s.detach() for s in {what}) before the next step
        uses them. You can then remove retain_graph=True.
        """,
    ),
    Cause(
        "backward_twice",
        "error",
        """
        [torch]
        backward(){line} ran a second time through the same graph, but the first call had already freed the graph.
        Fix: Compute the loss again before each backward(), and detach any state that is carried from one step to the
        next. Or write backward(retain_graph=True) in the first call.

        [torch: grad]
        torch.autograd.grad{line} has freed the graph of {what}, and backward(){other} goes through it as well.
        Fix: Write create_graph=True in this call if the loss uses its result, and retain_graph=True otherwise.

        [torch: carried]
        {what}{line} was computed in an earlier step, and this step uses it{other}. The backward pass of the earlier
        step has freed its graph.
        Fix: Keep the value without its graph: write .detach() on this line, or state = state.detach() after this line.
        For a number that is only printed, write .item().

        [torch: carried_tuple]
        {what}{line} was computed in an earlier step, and this step uses it{other}. The backward pass of the earlier
        step has freed its graph.
        Fix: Keep the values without their graph: write {what} = tuple(s.detach() for s in {what}) before the next step
        uses them.

        [torch: stored]
        {list} still contains values of an earlier step, such as {what}{other}, and this step uses them{line}. The
        backward pass of the earlier step has freed their graph.
        Fix: Empty {list} after each step, for example with {list}.clear(), or create it again before each step.

        [torch: made_once]
        {what}{line} was computed only once, but each backward pass goes through it{other}. The first backward pass has
        freed its graph.
        Fix: Compute the value again in each step. If nothing before this line needs to be trained, write .detach() on
        this line, and then .requires_grad_() if you need a derivative with respect to the value.

        [torch: unheld]
        {what}{line} was computed only once, from an nn.Parameter that no module and no optimizer holds, so {what} is
        not a parameter itself. Each backward pass goes through it{other}, and the first one has freed its graph.
        Fix: Do the computation inside the brackets of nn.Parameter(...), or keep the nn.Parameter in an attribute of
        its own and compute {what} from it again in each step. If it should not be trained, leave out nn.Parameter.
        """,
    ),
    Cause(
        "not_scalar",
        "error",
        """
        [torch]
        The target{line} has {what} elements, but backward() needs a single number.
        Fix: Reduce the target to a single number: write loss.mean() or loss.sum() before backward().

        [jax]
        The result has the shape {what}, but jax.grad needs a single number.
        Fix: Reduce the result with jnp.mean or jnp.sum. For a separate gradient for each example, use
        jax.vmap(jax.grad(...)). For all derivatives, use jax.jacrev.

        [jax: none]
        The function returns None, because it does not end with a return statement.
        Fix: Return the loss.
        """,
        edits=(edit.build_operand_edit("{x}.mean()", "backward"),),
    ),
    Cause(
        "has_aux",
        "error",
        """
        [jax]
        The function returns more than the loss.
        Fix: Pass has_aux=True, and return the loss first: return loss, aux.

        [jax: none]
        has_aux=True needs a function that returns a pair, but this function does not return a pair.
        Fix: Return a pair: return loss, aux. If the caller does not unpack a pair, remove has_aux=True instead.
        """,
    ),
    Cause(
        "leaked_tracer",
        "error",
        """
        [jax]
        A value from inside a traced function is used outside the function{line}. The value was stored in a list or an
        attribute.
        Fix: Return the value from the function instead.

        [jax: kept]
        {what}{line} stores a value from inside a traced function, and the next call uses this value outside the trace
        in which it was computed.
        Fix: Pass the value to the function as an argument, and return its new value: use has_aux=True and return loss,
        new.

        [jax: nondiff]
        A value from inside a traced function is used outside the function. {what}{line} declares nondiff_argnums, and
        JAX passes these arguments on unchanged, so none of them may be a traced array.
        Fix: Remove the array from nondiff_argnums, and let the rule return a zero tangent or cotangent for it.
        """,
    ),
    Cause(
        "refused",
        "error",
        """
        [torch: count]
        backward() of {what}{line} returned {n} gradients, but forward() received {all} arguments.
        Fix: Return one gradient for each argument of forward(), in the same order, and None for an argument that needs
        no gradient.

        [torch: shape]
        backward() of {what}{line} returned a gradient with the shape {one} for argument {n}, counted from 0, but this
        argument has the shape {two}.
        Fix: Return a gradient with the shape of the argument. If forward() broadcasts the argument, sum the gradient
        over the axes along which it was repeated.

        [torch: one_example]
        A normalization layer in training mode received a single value for each channel{line}, with the input size
        {what}, but one value has no variance. The last batch of an epoch is often that small.
        Fix: Leave out such a batch with DataLoader(..., drop_last=True){other}. For an evaluation or a single example,
        call model.eval() first.

        [torch: inference]
        A computation that needs gradients{line} uses a tensor that was computed in torch.inference_mode(). Autograd
        cannot keep or change such a tensor.
        Fix: Write torch.no_grad() instead of torch.inference_mode(), or use a copy of the tensor: x.clone().

        [torch: no_parameters]
        The optimizer{line} received no parameters. An iterator such as filter(...) or model.parameters() is empty once
        it has been read, and a model does not find layers in a plain list.
        Fix: Pass list(model.parameters()). Keep layers in attributes, in nn.ModuleList or in nn.ModuleDict.

        [torch: computed]
        The optimizer{line} received a tensor that was computed from other tensors, for example by a multiplication or
        by .to(device). Only a leaf can be trained.
        Fix: Create the leaf last: w = (0.1 * torch.randn(3, device=device)).requires_grad_(), or
        nn.Parameter(0.1 * torch.randn(3)).

        [torch: dtype]
        The backward pass{line} found a gradient of type {one} where it expected {two}. The prediction and the target
        probably have different dtypes. NumPy's floats are float64 by default, which PyTorch
        calls Double.
        Fix: Convert the data before the loss, for example with target.float().

        [torch: not_probabilities]
        binary_cross_entropy{line} received values that are not between 0 and 1, but it expects probabilities.
        Fix: Use binary_cross_entropy_with_logits (nn.BCEWithLogitsLoss) with the output of the model, or apply
        torch.sigmoid first. If the values are NaN, an earlier step has produced them.

        [torch: integer]
        A tensor of whole numbers{line} cannot require a gradient.
        Fix: Create the tensor with floats, such as torch.tensor([1.0, 2.0]), or convert it with .float() first.

        [torch: numpy]
        The program converts a tensor that has a gradient to NumPy{line}. NumPy does not record operations, so no
        gradient could come back from there.
        Fix: If the loss does not depend on the result, as for a plot or a metric, write x.detach().numpy(). Otherwise,
        use the PyTorch function.

        [torch: view]
        The program changes a result of unbind(), split(), chunk() or of a loop over a tensor in place{line}, and
        autograd does not allow this.
        Fix: Create a new tensor, such as row = row + 1 instead of row += 1, and combine the results with torch.stack.

        [torch: no_derivative]
        The computation{line} needs the derivative of {what}, which PyTorch does not have.
        Fix: Use other operations. For a second derivative (create_graph=True), write the operation with basic PyTorch
        functions.

        [torch: half_weights]
        GradScaler cannot unscale gradients in float16{line}. The parameters are in float16, too, because of a call such
        as model.half().
        Fix: Keep the parameters in float32, and compute the loss under torch.autocast, which converts to float16 where
        that is safe.

        [torch: unscaled_twice]
        scaler.unscale_(optimizer) was called a second time{line} before scaler.update().
        Fix: Call unscale_() once for each step, after the last backward() and before the clipping, and call
        scaler.update() after scaler.step(optimizer).

        [torch: nothing_scaled]
        scaler.step(optimizer){line} found no gradients in the parameters of the optimizer.
        Fix: Call scaler.scale(loss).backward() first, and do not clear the gradients in between. The optimizer must
        hold the parameters of the model that computes the loss.

        [jax]
        JAX rejects the program{line} with this message: {what}
        Fix: Read the message. The rest of the recording shows what was computed.

        [jax: in_place]
        JAX arrays are immutable, but this line assigns to an element{line}.
        Fix: Create a new array with x = x.at[index].set(value), or combine the elements with jnp.array or jnp.stack.

        [jax: forward]
        JAX cannot apply forward-mode differentiation (jvp, jacfwd) to a custom_vjp function{line}, because its rule
        covers only the backward pass.
        Fix: Compute this derivative with jax.grad or jax.jacrev, or define a custom_jvp for the function instead.

        [jax: list]
        A jax.numpy function is called with a list{line}, but it accepts only arrays.
        Fix: Convert the list to one array with jnp.stack(values) or jnp.concatenate(values).

        [jax: complex]
        The result{line} is a complex number, but jax.grad needs a real number.
        Fix: Make the result real: use z.real, or jnp.abs(z) ** 2 for its squared magnitude.

        [jax: donated]
        This line{line} uses an array that was donated to a compiled function (donate_argnums), so its memory has been
        freed. Another name may refer to the same array.
        Fix: Use the arrays that the compiled function returns. To keep the old values under another name, copy them
        before the call: jax.tree.map(jnp.copy, params).

        [jax: needs_params]
        The optimizer needs the parameters, for example for its weight decay, but update(){line} did not receive them.
        Fix: Pass them as the third argument: optimizer.update(gradients, state, params).

        [jax: trees]
        Two trees of arrays{line} do not have the same structure: {what}
        Fix: Pass the same tree of parameters to the init() and update() of the optimizer, and gradients of this tree.
        To compare two trees, print jax.tree.structure(tree).

        [jax: unhashable]
        A static argument{line} cannot be hashed: {what}
        Fix: Pass a tuple, a number, a string or a frozen dataclass as a static argument. Pass an array as an ordinary
        argument.

        [jax: no_array]
        An argument{line} contains a value that is not an array, such as a string or an object.
        Fix: Keep this value out of the parameters, for example in a closure. For an Equinox module, use
        eqx.filter_value_and_grad and eqx.filter_jit.

        [jax: shapes]
        Two shapes{line} do not fit together: {what}
        Fix: Print the shapes before this line. For a matrix product, the last axis on the left and the first axis on
        the right must have the same size.

        [jax: carry]
        The body of a loop{line} returns a state whose shape or dtype differs from the state that it received: {what}
        Fix: Start with a state of the same shape and dtype, such as jnp.zeros(shape, x.dtype), and return the state
        first.

        [tensorflow: persistent]
        The tape is used for a second gradient{line}, but a tape is released after the first gradient.
        Fix: Ask for all gradients at once: tape.gradient(loss, [a, b]). For gradients of several targets, write
        tf.GradientTape(persistent=True).

        [tensorflow: other_variables]
        The optimizer{line} receives variables that it was not built for. An optimizer is built for the variables of its
        first step.
        Fix: Create one optimizer for each model, or call optimizer.build(variables) with all variables before the first
        step.

        [tensorflow: no_value]
        A tensor of a tf.function has no value{line}. Inside the function, it only stands for a value, and outside, it
        cannot be used.
        Fix: Return the tensor from the tf.function, and read the value of the result. To print a value inside, use
        tf.print. Instead of a Python condition, use tf.cond or tf.where.

        [tensorflow: new_variable]
        A tf.function creates a variable{line} in a call that is not its first.
        Fix: Create variables, layers and optimizers once, outside of the tf.function.

        [tensorflow: in_place]
        A tensor cannot be changed{line}, but this line assigns to one of its elements.
        Fix: Create a new tensor with tf.where, tf.concat or tf.tensor_scatter_nd_update, or assign to a tf.Variable.

        [tensorflow: keras_tensor]
        A TensorFlow function is called{line} with the input of a Keras model, which has no values.
        Fix: Use keras.ops, or call the function inside the call() of a Layer.

        [tensorflow: target_shape]
        The target and the prediction{line} have different shapes: {what}
        Fix: For whole numbers as labels, use SparseCategoricalCrossentropy. Otherwise, convert the labels with
        keras.utils.to_categorical, or reshape them.

        [tensorflow: labels]
        The labels{line} contain the class number {n}, but the prediction has only {all} outputs, so the class numbers
        begin with 0 and end before {all}.
        Fix: Number the classes from 0, for example with labels - 1, and give the last layer one unit for each class.

        [tensorflow: layer_input]
        A layer{line} received an input whose shape differs from the one it was built for: {what}
        Fix: Compare the shape of the input with the shape that the layer expects. The first axis is the batch
        axis, with one entry for each example.

        [tensorflow: branches]
        A condition or a loop{line} depends on a tensor, and TensorFlow cannot compile it: {what}.
        Fix: Give the variable a value before the condition or the loop, or in each branch. The dtype and the shape must
        be the same everywhere. Return only at the end of the function.

        [tensorflow: dtypes]
        Two tensors{line} have different dtypes: {what}
        Fix: Cast one of them: tf.cast(x, tf.float32). NumPy's floats are float64 by default.

        [tensorflow: shapes]
        Two shapes{line} do not fit together: {what}
        Fix: Print the shapes before this line. For a matrix product, the last axis on the left and the first axis on
        the right must have the same size.
        """,
    ),
    Cause(
        "no_backward",
        "error",
        """
        [torch]
        No backward pass from this target ran in the block.
        Fix: Call backward() on the target inside the block of record().

        [tensorflow]
        No gradient was requested in the block.
        Fix: Call tape.gradient(loss, {x}) inside the block of record(), or pass the target: explain(loss, {x}).

        [torch: none]
        No backward pass ran in the block.
        Fix: Call backward() on the loss inside the block of record(), or pass the target: explain(loss, {x}).

        [tensorflow: inside]
        The gradient was requested inside a tf.function that is not run again here.
        Fix: Try again with record(open_functions=True), so that the function runs line by line.

        [tensorflow: tape]
        There was no tape in the block, so nothing was recorded for {x}.
        Fix: Compute the target inside the block of a tf.GradientTape, and compute the gradient with that tape.
        """,
    ),
    Cause(
        "grad_cleared",
        "error",
        """
        [torch]
        The gradient was computed, but .grad was then set to None{line}.
        Fix: Call zero_grad() before backward(), and read .grad before the next zero_grad().

        [torch: zeros]
        The gradient was computed, but .grad was then filled with zeros{line}.
        Fix: Call zero_grad() before backward(), and read .grad before the next zero_grad().
        """,
    ),
    Cause(
        "grad_returned",
        "error",
        """
        [torch]
        torch.autograd.grad{line} returns the gradient and does not set .grad.
        Fix: Use the gradient that it returns, or call backward() instead.
        """,
    ),
)
