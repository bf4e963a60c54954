"""Describe the causes by which a value leaves the framework."""

from __future__ import annotations

from ..fixes import edits as edit
from ..fixes.host_conversion_fixes import convert_line_to_framework
from .cause import Cause

CAUSES = (
    Cause(
        "left_through_numpy",
        "left",
        """
        [tape]
        {what}{line} took the value out of TensorFlow. What came back has no connection to {x}.
        Fix: Stay with tf operations: tf.reduce_mean instead of np.mean, tensors instead of .numpy() and float().

        [tensorflow]
        The value left TensorFlow by {what}{line}. What came back is a constant without a path to {x}.
        Fix: Stay with tensors: leave out {what}, and compute with functions of TensorFlow what follows.

        [tape: text]
        The value became text{line}, which has no connection to {x}.
        Fix: Keep the number as well as the text, and compute with the number.

        [tape: copy]
        {code}{line} copies what a variable holds. The copy has no connection to {x}.
        Fix: Use the variable itself, or tf.identity of it to keep its present value.

        [tape: choice]
        Python decided by the value{line} what runs next, and no gradient passes a choice.
        Fix: Choose with tensors: tf.where(condition, a, b), tf.maximum, tf.minimum, or smoothly with tf.sigmoid.

        [tape: index]
        The value was used as an index or a size{line}, and no gradient passes those.
        Fix: Weight all the candidates instead, for example with tf.nn.softmax, or train what the index is computed
        from.

        [tape: function]
        {code}{line} runs NumPy code, which no tape follows.
        Fix: Write it with tf operations, also inside tf.py_function, or give it a derivative with
        tf.custom_gradient.

        [tape: target]
        The target is no tensor: {what}.
        Fix: Pass the tensor itself as the target, without .numpy(), float() or NumPy functions in between.

        [tensorflow: model]
        The value left TensorFlow by {what}{line}, which gives plain arrays. What came back is a constant that has
        no connection to {x}.
        Fix: Call the model itself, as in model(x), in place of {what}.

        [tensorflow: loss]
        The value left TensorFlow by {what}{line}, which gives plain numbers. What came back is a constant that has
        no connection to {x}.
        Fix: Compute the loss in the block from what the model itself gives, loss(y, model(x)), in place of {what}.

        [tensorflow: weights]
        The value left TensorFlow by {what}{line}, which gives copies. What came back is a constant that has no
        connection to {x}.
        Fix: Use the variables themselves, such as layer.kernel and layer.bias, in place of {what}.

        [tensorflow: python]
        Fix: Write what the function computes with functions of TensorFlow, and call it without {what}.

        [tensorflow: dataset]
        A dataset{line} computes apart from the program, where no tape is. What comes out of it is a constant
        without a path to {x}.
        Fix: Take the plain elements from the dataset, and compute with {x} inside of the tape's block.
        """,
        plans=(convert_line_to_framework,),
    ),
    Cause(
        "left_torch",
        "left",
        """
        [torch]
        The value left PyTorch by {what}{line}. What came back is a constant that has no connection to {x}.
        Fix: Stay with tensors: leave out {what} and use torch functions instead of NumPy's and Python's.
        """,
        edits=(edit.reuse_tensor_for_copy,),
        plans=(convert_line_to_framework,),
    ),
    Cause(
        "left_jax",
        "left",
        """
        [jax]
        {what}{line} wants a number of Python or NumPy. There is none while JAX traces the function.
        Fix: Stay with jax.numpy: leave it out, use jnp instead of np, and jax.debug.print to look at a value. What
        is no array, such as the number of steps, is a static argument or comes from outside of the function.

        [jax: values]
        This line{line} takes the values of a traced array. The gradient of {x} ends there.
        Fix: Stay with operations that JAX traces. For the values that occur, say size= and fill_value=, or keep all
        elements.

        [jax: number]
        {what}{line} made a number of Python of the value. The gradient of {x} ends there.
        Fix: Compute with the array itself. A size, an index or a number of steps has no gradient: weigh all
        candidates, or ask for what is computed with it.
        """,
        plans=(convert_line_to_framework,),
    ),
    Cause(
        "branch",
        "left",
        """
        [torch]
        A Python condition{line} read the value. No gradient passes the choice of a branch.
        Fix: Choose with tensors: torch.where(condition, a, b), torch.clamp, or smoothly with torch.sigmoid.

        [jax]
        A Python condition{line} asks for a value. There is none while JAX traces the function.
        Fix: Choose with arrays: jnp.where(condition, a, b) or lax.cond.

        [jax: python]
        A Python condition{line} reads the value, and both branches go on without it. No gradient passes a choice.
        Fix: Choose with arrays: jnp.where(condition, a, b), or smoothly with jax.nn.sigmoid.
        """,
    ),
    Cause(
        "python_branch",
        "left",
        """
        [tensorflow]
        A Python condition{line} read the value. No gradient passes the choice of a branch.
        Fix: Choose with tensors: tf.where(condition, a, b), tf.maximum, or smoothly with tf.sigmoid.
        """,
    ),
    Cause(
        "boolean_index",
        "left",
        """
        [jax]
        A condition is used as an index{line}. How many elements it takes depends on values, and JAX must know
        shapes before.
        Fix: Keep the shape: jnp.where(condition, x, 0.0), or where= of jnp.sum and jnp.mean.

        [jax: size]
        How many elements {what}{line} finds depends on values. JAX must know shapes before.
        Fix: Keep the shape: jnp.where(condition, x, 0.0), or say size= and fill_value=.
        """,
        edits=(edit.replace_mask_by_where,),
    ),
    Cause(
        "callback",
        "left",
        """
        [jax]
        {what}{line} computes outside of JAX, and has no derivative there.
        Fix: Write it with jax.numpy, or give it a rule with jax.custom_vjp.
        """,
    ),
    Cause(
        "target_not_tensor",
        "left",
        """
        [tensorflow]
        The target is a plain {what}: only a tensor knows how it was computed.
        Fix: Leave out .numpy() and float() where the target is made.
        """,
    ),
    Cause(
        "not_tensor",
        "left",
        """
        [torch]
        The target is a plain {what}: only a tensor knows how it was computed.
        Fix: Leave out .item(), float() or .numpy() where the target is made.
        """,
    ),
)
