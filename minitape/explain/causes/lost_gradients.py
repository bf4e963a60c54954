"""Describe the answer that nothing is wrong, and the causes of errors and lost gradients."""

from __future__ import annotations

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
        {what}{line} changed a tensor in place that autograd needs as it was.
        Fix: Compute a new tensor instead of changing this one: write y = y + 1 for y += 1, relu(y) for relu_(y),
        and torch.stack of a list for y[i] = v.

        [torch: leaf]
        {what}{line} changes a leaf that requires grad in place. autograd refuses that.
        Fix: To set values, write it under torch.no_grad(). To compute with changed values, change a copy: v =
        {x}.clone().

        [torch: parameter]
        Parameters were changed{line} before backward(). autograd needs them as they were in the forward pass.
        Fix: Call all backward() before that line, or compute the loss again after it.
        """,
        edits=(edit.rebind_instead_of_updating,),
    ),
    Cause(
        "backward_twice",
        "error",
        """
        [torch]
        backward(){line} ran a second time through the same graph. The first one has freed it.
        Fix: Compute the loss again before each backward(), and detach a state that goes from one step to the next;
        or write backward(retain_graph=True) the first time.

        [torch: carried]
        {what}{line} was computed in an earlier step, and this step uses it{other}. The backward pass of that
        step has freed its graph.
        Fix: Keep the value without its graph: write .detach() on this line, or .item() for a number that is
        only printed.

        [torch: made_once]
        {what}{line} was computed once, and each backward pass goes through it{other}. The first one has freed
        its graph.
        Fix: Compute it again in each step. If nothing before it is to be trained, write .detach() on this line.
        """,
    ),
    Cause(
        "not_scalar",
        "error",
        """
        [torch]
        The target{line} has {what} elements, and backward() wants one number.
        Fix: Reduce it: write loss.mean() or loss.sum() before backward().

        [jax]
        The result has the shape {what}, and jax.grad wants one number.
        Fix: Reduce it: jnp.mean or jnp.sum. For one gradient for each example, jax.vmap(jax.grad(...)); for all
        derivatives, jax.jacrev.

        [jax: none]
        The function returns None: its last line is no return.
        Fix: Return the loss.
        """,
        edits=(
            edit.replace_operand("{x}.mean()", "backward"),
            edit.take_mean_of_return,
        ),
    ),
    Cause(
        "has_aux",
        "error",
        """
        [jax]
        The function returns more than the loss.
        Fix: Say has_aux=True, with the loss first: return loss, aux.

        [jax: none]
        has_aux=True needs a function that returns a pair, and this one does not.
        Fix: Return the pair: return loss, aux. Only where the caller takes no pair apart, leave has_aux=True out.
        """,
    ),
    Cause(
        "leaked_tracer",
        "error",
        """
        [jax]
        A value from inside a traced function is used outside of it{line}. It was kept in a list or an attribute.
        Fix: Return it from the function instead.

        [jax: kept]
        {what}{line} keeps a value from inside a traced function, and it is used outside of it: in the next call.
        Fix: Give it to the function as an argument, and return what is new of it: has_aux=True, and return loss,
        new.

        [jax: nondiff]
        A value from inside a traced function is used outside of it. {what}{line} declares nondiff_argnums. JAX passes
        these arguments on unchanged, so none of them may be a traced array.
        Fix: Remove the array from nondiff_argnums, and let the rule return a zero tangent or cotangent for it.
        """,
    ),
    Cause(
        "refused",
        "error",
        """
        [jax]
        JAX refuses the program{line}. It says: {what}
        Fix: Read the message; the rest of the recording shows what was computed.

        [jax: in_place]
        Arrays of JAX do not change, and this line assigns to an element{line}.
        Fix: Make a new array: x = x.at[index].set(value), or put the elements together with jnp.array or jnp.stack.

        [jax: forward]
        JAX does not go forward (jvp, jacfwd) through a custom_vjp{line}. Its rule is for the backward pass only.
        Fix: Ask for this derivative with jax.grad or jax.jacrev, or give the function a custom_jvp instead.

        [jax: list]
        A function of jax.numpy is given a list{line}, and takes arrays only.
        Fix: Make one array of the list: jnp.stack(values), or jnp.concatenate(values).

        [jax: complex]
        The result{line} is a complex number, and jax.grad wants a real one.
        Fix: Make it real: z.real, or jnp.abs(z) ** 2 for its squared size.
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
        No gradient was asked for in the block.
        Fix: Call tape.gradient(loss, {x}) inside the block of record(), or name the target: explain(loss, {x}).

        [torch: none]
        No backward pass ran in the block.
        Fix: Call backward() on the loss inside the block of record(), or name the target: explain(loss, {x}).

        [tensorflow: inside]
        The gradient was asked for inside of a tf.function, which does not run again here.
        Fix: Ask again with record(open_functions=True): it runs the function line by line.

        [tensorflow: tape]
        No tape was there in the block: nothing was recorded for {x}.
        Fix: Compute the target in the block of a tf.GradientTape, and ask that tape for the gradient.
        """,
    ),
    Cause(
        "grad_cleared",
        "error",
        """
        [torch]
        The gradient arrived, and .grad was set to None{line} afterwards.
        Fix: Call zero_grad() before backward(), and read .grad before the next zero_grad().

        [torch: zeros]
        The gradient arrived, and .grad was filled with zeros{line} afterwards.
        Fix: Call zero_grad() before backward(), and read .grad before the next zero_grad().
        """,
    ),
    Cause(
        "grad_returned",
        "error",
        """
        [torch]
        torch.autograd.grad{line} returns the gradient and does not write .grad.
        Fix: Take the gradient from its result, or call backward().
        """,
    ),
)
