"""Describe the causes that concern the source itself, which may be untracked or not a float."""

from ..fixes import block_fixes as block
from ..fixes import edits as edit
from .cause import Cause

CAUSES = (
    Cause(
        "not_watched",
        "not_tracked",
        """
        [tape]
        {x} is a tensor that the tape does not watch, so its use{line} sends no gradient back to it.
        Fix: Call tape.watch({x}) inside the block before {x} is used, or make {x} a tf.Variable.

        [tensorflow]
        {x} is a tensor that no tape watches, so its use{line} was not tracked.
        Fix: Call tape.watch({x}) inside the block before {x} is used, or make {x} a tf.Variable.

        [tensorflow: block]
        {x} is a tensor that no tape watches, so its use in the block{line} was not tracked.
        Fix: Call tape.watch({x}) at the top of the block, or make {x} a tf.Variable.

        [tensorflow: made]
        {x} was computed{line} from values that no tape watches, and {x} itself is not watched either.
        Fix: Call tape.watch({x}) inside the block, before {x} is used.

        [tensorflow: other]
        A different tape watches {x}. The tape that starts here{line} and computes the gradient does not.
        Fix: Make this tape watch {x} as well: call its watch({x}) method before {x} is used.
        """,
        plans=(block.add_watch_call_at_top_of_block,),
    ),
    Cause(
        "watched_late",
        "not_tracked",
        """
        [tape]
        {x} was used before tape.watch{line} was called on it.
        Fix: Move tape.watch({x}) to the top of the block, before {x} is used.

        [tensorflow]
        {x} was used{line} before the tape watched it.
        Fix: Move tape.watch({x}) up, so that it runs before {x} is first used.
        """,
        plans=(block.add_watch_call_at_top_of_block,),
    ),
    Cause(
        "not_trainable",
        "not_tracked",
        """
        [tape]
        {x} is a variable that was created with trainable=False{line}, so no tape watches it automatically.
        Fix: Call tape.watch({x}) at the top of the block, or create the variable with trainable=True.

        [tensorflow]
        {x} is a variable with trainable=False{line}, so no tape watches it automatically.
        Fix: Call tape.watch({x}) at the top of the block, or create the variable with trainable=True.

        [jax]
        {x} is an array in a static field{line}. JAX treats such a field as a constant, so the
        array gets no gradient.
        Fix: Leave out static=True (or pytree_node=False). If the array should not be trained, use
        jax.lax.stop_gradient.

        [tensorflow: left out]
        {x} is not trainable{line}, so Keras does not request its gradient.
        Fix: Set trainable = True before compile().

        [tensorflow: model]
        The training steps of {what} change nothing, because no variable of {what} was trainable{line} at its first
        step. Keras 3 reads trainable at the first step, and not in compile().
        Fix: Set trainable to True before the first step of {what}. If {what} is also a part of another model that
        should not change it, set trainable to False just before the first step of that model.
        """,
        edits=(
            edit.build_keyword_edit("trainable", True),
            edit.replace_false_in_requires_grad_or_trainable,
        ),
        plans=(block.add_watch_call_at_top_of_block,),
    ),
    Cause(
        "not_accessed_watched",
        "not_tracked",
        """
        [tape]
        Because of watch_accessed_variables=False, the tape did not watch {x}{line}.
        Fix: Call tape.watch({x}) at the top of the block, or leave watch_accessed_variables set to True.

        [tensorflow]
        The tape has watch_accessed_variables=False{line}, and {x} was not watched before it was used.
        Fix: Call tape.watch({x}) at the top of the block, or leave watch_accessed_variables set to True.
        """,
        edits=(edit.build_keyword_edit("watch_accessed_variables", True),),
        plans=(block.add_watch_call_at_top_of_block,),
    ),
    Cause(
        "requires_grad",
        "not_tracked",
        """
        [torch]
        {x} has requires_grad=False{line}, so autograd does not compute a gradient for it.
        Fix: Call {x}.requires_grad_() before {x} is used, or create {x} with requires_grad=True or as an nn.Parameter.

        [torch: late]
        {x} was used{line} before its requires_grad was set, so the gradient does not include that use.
        Fix: Set requires_grad before {x} is first used, or compute the loss again after you set it.

        [torch: computed]
        {x} was computed{line} from tensors that do not require a gradient, so {x} does not require one either.
        Fix: Call {x}.requires_grad_() after this line and before {x} is used.

        [torch: input]
        {x}{line} has requires_grad=False, but torch.autograd.grad was called to compute its gradient.
        Fix: Call {x}.requires_grad_() before {x} is used.
        """,
        edits=(
            edit.replace_false_in_requires_grad_or_trainable,
            edit.build_keyword_edit("requires_grad", True, *edit.TENSOR_MAKERS),
        ),
    ),
    Cause(
        "non_leaf",
        "not_tracked",
        """
        [torch]
        {x} is not a leaf, because {what}{line} computed it. Autograd sets .grad only on leaves.
        Fix: To train {x}, make it a leaf: compute its value first, and then call .requires_grad_(). To read the
        gradient of a computed tensor, call {x}.retain_grad() before backward().

        [torch: anew]
        {x} is recomputed each time it is read. The tensor that you asked about is not a leaf, and it was not used.
        Fix: Ask for the gradient of the trainable leaf that {x} is computed from.
        """,
    ),
    Cause(
        "argnums",
        "not_tracked",
        """
        [jax]
        The gradient is not computed with respect to {x}, because argnums selects other arguments.
        Fix: Write argnums={what}, or argnums={other} if the other arguments also need a gradient.
        """,
    ),
    Cause(
        "closure",
        "not_tracked",
        """
        [jax]
        {x} is used{line}, but it is not an argument of the function, so JAX treats it as a constant.
        Fix: Make {x} an argument, and include it in argnums.

        [jax: beside]
        The function reads {x}{line} from {what}, an outside value that JAX treats as a constant, instead of from its
        own argument.
        Fix: Use the argument {other} instead of {what}.
        """,
    ),
    Cause(
        "integer_dtype",
        "wrong_dtype",
        """
        [tape]
        The value has the dtype {what}{line}, but only floats have gradients.
        Fix: Use a float: write 10.0 instead of 10, pass dtype=tf.float32, or remove the cast.

        [torch, tensorflow]
        {x} has the dtype {what}{line}, but only floats have gradients.
        Fix in torch: Make {x} a float: write 1.0 instead of 1, or pass dtype=torch.float32. Then set
        requires_grad=True.
        Fix in tensorflow: Make {x} a float: write 1.0 instead of 1, or pass dtype=tf.float32.

        [jax]
        {other} has the dtype {what}, but JAX differentiates only with respect to floating-point arguments.
        Fix: Make the value a float: write 1.0 instead of 1, or use .astype(jnp.float32). Pass values that are not
        parameters, such as a counter, in a different argument.

        [tape: source]
        {x} is {what}{line}, but only floats have gradients.
        Fix: Make {x} a float: write 1.0 instead of 1, or pass dtype=tf.float32.

        [tensorflow: inside]
        {what}{line} returns integers, but only floats have gradients.
        Fix: Remove the cast, and compute with the float.
        """,
    ),
    Cause(
        "integer_cast",
        "wrong_dtype",
        """
        [torch, jax]
        {what}{line} returns integers, but only floats have gradients.
        Fix: Remove the cast, and compute with the float.
        """,
    ),
)
