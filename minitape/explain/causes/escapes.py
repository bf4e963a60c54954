"""Describe the causes that apply when a value leaves the framework."""

from ..fixes.host_conversion_fixes import convert_line_to_framework
from .cause import Cause

CAUSES = (
    Cause(
        "left_through_numpy",
        "left",
        """
        [tape]
        {what}{line} took the value out of TensorFlow, so the result has no connection to {x}.
        Fix: Use only tf operations: for example, tf.reduce_mean instead of np.mean, and tensors instead of .numpy() or
        float().

        [tensorflow]
        The value left TensorFlow through {what}{line}, so the result is a constant with no path to {x}.
        Fix: Use tensors throughout: remove {what}, and use TensorFlow functions for the rest of the computation.

        [tape: text]
        The value was converted to text{line}, and the text has no connection to {x}.
        Fix: Keep both the number and the text, and use the number in the computation.

        [tape: copy]
        {code}{line} copies the value of a variable, and the copy has no connection to {x}.
        Fix: Use the variable itself, or use tf.identity to keep its current value.

        [tape: choice]
        Python used the value{line} to decide what runs next, and no gradient flows through such a decision.
        Fix: Make the choice with tensor operations: tf.where(condition, a, b), tf.maximum or tf.minimum, or tf.sigmoid
        for a smooth choice.

        [tape: index]
        The value was used as an index or a size{line}, and neither has a gradient.
        Fix: Weight all the candidates instead, for example with tf.nn.softmax, or train the values that the index is
        computed from.

        [tape: function]
        {code}{line} runs NumPy code, and no tape records NumPy code.
        Fix: Write this code with tf operations, even inside tf.py_function, or define its derivative with
        tf.custom_gradient.

        [tape: target]
        The target is not a tensor but {what}.
        Fix: Pass the tensor itself as the target, without .numpy(), float() or NumPy functions in between.

        [tensorflow: model]
        The value left TensorFlow through {what}{line}. The plain arrays that came back are constants that have no
        connection to {x}.
        Fix: Call the model itself, as in model(x), instead of {what}.

        [tensorflow: loss]
        The value left TensorFlow through {what}{line}. The plain numbers that came back are constants that have no
        connection to {x}.
        Fix: Compute the loss inside the block from the output of the model itself, as in loss(y, model(x)), instead of
        using {what}.

        [tensorflow: weights]
        The value left TensorFlow through {what}{line}. The copies that came back are constants that have no connection
        to {x}.
        Fix: Use the variables themselves, such as layer.kernel and layer.bias, instead of {what}.

        [tensorflow: python]
        Fix: Rewrite the function with TensorFlow operations, and call it without {what}.

        [tensorflow: dataset]
        A dataset{line} computes its elements outside the program, where no tape is recording. The elements are
        constants with no path to {x}.
        Fix: Take only the raw elements from the dataset, and compute with {x} inside the tape's block.
        """,
        plans=(convert_line_to_framework,),
    ),
    Cause(
        "left_torch",
        "left",
        """
        [torch]
        The value left PyTorch through {what}{line}, so the result is a constant that has no connection to {x}.
        Fix: Use tensors throughout: remove {what}, and use torch functions instead of NumPy and Python functions.
        """,
        plans=(convert_line_to_framework,),
    ),
    Cause(
        "left_jax",
        "left",
        """
        [jax]
        {what}{line} needs a concrete Python or NumPy value, but there are no concrete values while JAX traces the
        function.
        Fix: Use jax.numpy throughout: remove the conversion, use jnp instead of np, and use jax.debug.print to look at
        a value. Make values that are not arrays, such as the number of steps, static arguments, or define them outside
        the function.

        [jax: values]
        This line{line} reads the values of a traced array, so the gradient path to {x} ends there.
        Fix: Use operations that JAX can trace. Pass size= and fill_value= to fix the number of values, or keep all
        elements.

        [jax: number]
        {what}{line} converted the value to a Python number, so the gradient path to {x} ends there.
        Fix: Compute with the array itself. A size, an index or a number of steps has no gradient. Weight all the
        candidates instead, or ask for the gradient of a value that is computed with the array.
        """,
        plans=(convert_line_to_framework,),
    ),
    Cause(
        "branch",
        "left",
        """
        [torch]
        A Python condition{line} read the value, and no gradient flows through the choice of a branch.
        Fix: Make the choice with tensor operations: torch.where(condition, a, b) or torch.clamp, or torch.sigmoid for a
        smooth choice.

        [jax]
        A Python condition{line} needs a concrete value, but there are no concrete values while JAX traces the function.
        Fix: Use jnp.where(condition, a, b) or lax.cond instead.

        [jax: python]
        A Python condition{line} reads the value, but neither branch uses it, and no gradient flows through the choice
        of a branch.
        Fix: Use jnp.where(condition, a, b) instead, or jax.nn.sigmoid for a smooth choice.
        """,
    ),
    Cause(
        "python_branch",
        "left",
        """
        [tensorflow]
        A Python condition{line} read the value, and no gradient flows through the choice of a branch.
        Fix: Make the choice with tensor operations: tf.where(condition, a, b) or tf.maximum, or tf.sigmoid for a smooth
        choice.
        """,
    ),
    Cause(
        "boolean_index",
        "left",
        """
        [jax]
        A condition is used as an index{line}. The number of selected elements depends on the values, but JAX must know
        all shapes in advance.
        Fix: Keep the shape: use jnp.where(condition, x, 0.0), or the where= argument of jnp.sum and jnp.mean.

        [jax: size]
        The number of elements that {what}{line} returns depends on the values, but JAX must know all shapes in advance.
        Fix: Keep the shape: use jnp.where(condition, x, 0.0), or pass size= and fill_value=.
        """,
    ),
    Cause(
        "callback",
        "left",
        """
        [jax]
        {what}{line} runs outside JAX, so it has no derivative.
        Fix: Write this code with jax.numpy, or define its derivative with jax.custom_vjp.
        """,
    ),
    Cause(
        "target_not_tensor",
        "left",
        """
        [tensorflow]
        The target is a plain {what}, and only a tensor records how it was computed.
        Fix: Remove .numpy() and float() from the computation of the target.
        """,
    ),
    Cause(
        "not_tensor",
        "left",
        """
        [torch]
        The target is a plain {what}, and only a tensor records how it was computed.
        Fix: Remove .item(), float() and .numpy() from the computation of the target.
        """,
    ),
)
