"""The sentences of ``explain`` for JAX: what each cause means, and how to fix it.

In the templates, {x} is the source, {line} the place in brackets, {what} the operation, and {other} another name.
"""

from __future__ import annotations

from ...explain.operation_families import map_causes_to_ops
from ...explain.value_texts import Texts
from ..bridge_texts import SHARED_TEXTS
from .row_log import STEP_OPS

TEXT: Texts = SHARED_TEXTS | {
    # cause: (what happened, what fixes it)
    "argnums": (
        "{x} is not differentiated: argnums names other arguments.",
        "Name it: argnums={what}, or argnums={other} where the others need a gradient, too.",
    ),
    "integer_dtype": (
        "{other} has the dtype {what}, and JAX differentiates by floating-point arguments only.",
        "Make it a float: write 1.0 instead of 1, or .astype(jnp.float32). What is no parameter, such as a "
        "counter, belongs into another "
        "argument.",
    ),
    "integer_cast": (
        "{what}{line} makes whole numbers. Only floats have gradients.",
        "Leave out the cast, and compute with the float.",
    ),
    "stop_gradient": (
        "lax.stop_gradient{line} blocks the gradient from the result to {x}.",
        "Leave out stop_gradient, or apply it only to the part that should count as a constant.",
    ),
    "no_derivative": (
        "{what}{line} has no derivative: JAX gives zeros for it. It is on the path from {x} to the result.",
        "Use a smooth function of the values instead.",
    ),
    "zero_derivative": (
        "{what}{line} is constant in steps: its derivative is zero everywhere.",
        "Leave it out while training, or pass the gradient as if it were not there: x + "
        "lax.stop_gradient(jnp.round(x) - x).",
    ),
    "zero_derivative second": (
        "The second derivative of {what}{line} is zero: it consists of straight lines.",
        "Use a smooth activation where second derivatives are needed: jnp.tanh, jax.nn.softplus or jax.nn.swish.",
    ),
    "left_jax values": (
        "This line{line} takes the values of a traced array. The gradient of {x} ends there.",
        "Stay with operations that JAX traces. For the values that occur, say size= and fill_value=, or keep all "
        "elements.",
    ),
    "left_jax number": (
        "{what}{line} made a number of Python of the value. The gradient of {x} ends there.",
        "Compute with the array itself. A size, an index or a number of steps has no gradient: weigh all "
        "candidates, or ask for what is "
        "computed with it.",
    ),
    "left_jax": (
        "{what}{line} wants a number of Python or NumPy. There is none while JAX traces the function.",
        "Stay with jax.numpy: leave it out, use jnp instead of np, and jax.debug.print to look at a value. What "
        "is no array, such as the "
        "number of steps, is a static argument or comes from outside of the function.",
    ),
    "branch": (
        "A Python condition{line} asks for a value. There is none while JAX traces the function.",
        "Choose with arrays: jnp.where(condition, a, b) or lax.cond.",
    ),
    "branch python": (
        "A Python condition{line} reads the value, and both branches go on without it. No gradient passes a choice.",
        "Choose with arrays: jnp.where(condition, a, b), or smoothly with jax.nn.sigmoid.",
    ),
    "boolean_index": (
        "A condition is used as an index{line}. How many elements it takes depends on values, and JAX must know "
        "shapes "
        "before.",
        "Keep the shape: jnp.where(condition, x, 0.0), or where= of jnp.sum and jnp.mean.",
    ),
    "boolean_index size": (
        "How many elements {what}{line} finds depends on values. JAX must know shapes before.",
        "Keep the shape: jnp.where(condition, x, 0.0), or say size= and fill_value=.",
    ),
    "leaked_tracer": (
        "A value from inside a traced function is used outside of it{line}. It was kept in a list or an attribute.",
        "Return it from the function instead.",
    ),
    "leaked_tracer kept": (
        "{what}{line} keeps a value from inside a traced function, and it is used outside of it: in the next call.",
        "Give it to the function as an argument, and return what is new of it: has_aux=True, and return loss, new.",
    ),
    "not_scalar": (
        "The result has the shape {what}, and jax.grad wants one number.",
        "Reduce it: jnp.mean or jnp.sum. For one gradient for each example, jax.vmap(jax.grad(...)); for all "
        "derivatives, jax.jacrev.",
    ),
    "not_scalar none": ("The function returns None: its last line is no return.", "Return the loss."),
    "has_aux": (
        "The function returns more than the loss.",
        "Say has_aux=True, with the loss first: return loss, aux.",
    ),
    "has_aux none": (
        "has_aux=True needs a function that returns a pair, and this one does not.",
        "Return the pair: return loss, aux. Only where the caller takes no pair apart, leave has_aux=True out.",
    ),
    "while_loop": (
        "JAX does not go back through {what}{line}. How many steps it takes is known only when it runs.",
        "Use lax.scan, or lax.fori_loop with a number of steps that is fixed, or give the solution a rule of its "
        "own (jax.custom_vjp, "
        "lax.custom_root).",
    ),
    "callback": (
        "{what}{line} computes outside of JAX, and has no derivative there.",
        "Write it with jax.numpy, or give it a rule with jax.custom_vjp.",
    ),
    "refused": (
        "JAX refuses the program{line}. It says: {what}",
        "Read the message; the rest of the recording shows what was computed.",
    ),
    "refused in_place": (
        "Arrays of JAX do not change, and this line assigns to an element{line}.",
        "Make a new array: x = x.at[index].set(value), or put the elements together with jnp.array or jnp.stack.",
    ),
    "refused forward": (
        "JAX does not go forward (jvp, jacfwd) through a custom_vjp{line}. Its rule is for the backward pass only.",
        "Ask for this derivative with jax.grad or jax.jacrev, or give the function a custom_jvp instead.",
    ),
    "refused list": (
        "A function of jax.numpy is given a list{line}, and takes arrays only.",
        "Make one array of the list: jnp.stack(values), or jnp.concatenate(values).",
    ),
    "refused complex": (
        "The result{line} is a complex number, and jax.grad wants a real one.",
        "Make it real: z.real, or jnp.abs(z) ** 2 for its squared size.",
    ),
    "custom_rule": (
        "The derivative rule of {what}{line} gives zeros.",
        "Look at its custom_vjp or custom_jvp: pass the adjoint (or tangent) on, times the derivative.",
    ),
    "other_branch": (
        "The cond{line} took branch {what}, which does not use {x}.",
        "The gradient is zero where this branch is taken. Look at the condition, or mix both branches with jnp.where.",
    ),
    "other_branch python": (
        "The Python condition{line} took a branch that does not use {x}.",
        "The gradient is zero where this branch is taken. Look at the condition, or choose with jnp.where or "
        "jnp.maximum.",
    ),
    "zero_cancels one": (
        "{what}{line} is taken over a single value: it is the same for any.",
        "Use a sigmoid for one unit, or a unit for each class.",
    ),
    "closure": (
        "{x} is used{line}, but it is no argument of the function. It counts as a constant.",
        "Make it an argument, and name it in argnums.",
    ),
    "closure beside": (
        "{x} is used{line} by way of {what}, from outside of the function: a constant there, and not its argument.",
        "Use the argument {other} in place of {what}.",
    ),
    "unused dropped": (
        "{x} goes into {what}{line}, and the result does not depend on that.",
        "Use what it gives, or leave {x} out of what is differentiated.",
    ),
    "unused": (
        "{x} was not used for the result.",
        "Use it in the computation, or leave it out of what is differentiated.",
    ),
}
FUNCTIONS = {
    "saturated": "jax.nn.log_softmax, jax.nn.log_sigmoid.",
    "nan_forward": "jnp.maximum(x, 1e-6) before log, sqrt and division, jax.nn.logsumexp or jax.nn.softmax "
    "instead of exp.",
    "nan_forward hidden": "jnp.where(mask, x, 1.0), or jnp.maximum(x, 1e-6).",
    "nan_input": "jnp.nan_to_num, or leave these rows out.",
    "nan_backward": "jnp.sqrt(x + 1e-12), jnp.maximum(x, 1e-6). Where jnp.where hides such elements, replace them "
    "before the function, too.",
}

RELU_OPS = {"relu", "relu6", "leaky_relu", "elu", "selu", "hard_tanh"}
SATURATING_OPS = set("logistic tanh erf erfc exp softplus gelu clamp log1p".split())
PIECEWISE_ACTIVATIONS = {"hard_tanh", "elu", "celu", "selu", "leaky_relu"}
SELECTION_OPS = set(
    (
        "max min reduce_max reduce_min select_n slice dynamic_slice gather top_k sort scatter "
        "dynamic_update_slice reduce_window_max argsort split pad"
    ).split()
)
PRODUCT_OPS = set("mul dot_general conv_general_dilated div reduce_prod integer_pow pow square".split())
CANCELLING_OPS = {"sub", "reduce_precision", "softmax"}
ZERO_MECHANISMS = map_causes_to_ops(STEP_OPS, RELU_OPS, SATURATING_OPS, SELECTION_OPS, PRODUCT_OPS, CANCELLING_OPS)
