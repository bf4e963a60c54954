"""Describe the causes that concern the source itself, which may be untracked or not a float."""

from __future__ import annotations

from ..fixes import block_fixes as block
from ..fixes import edits as edit
from ..fixes import numeric_fixes as number
from .cause import Cause

CAUSES = (
    Cause(
        "not_watched",
        "not_tracked",
        """
        [tape]
        The tape does not watch {x}, a tensor, so its use{line} was not recorded.
        Fix: Call tape.watch({x}) inside the block before {x} is used, or make it a tf.Variable.

        [tensorflow]
        {x} is a tensor that no tape watches. What was computed from it{line} was not recorded for it.
        Fix: Call tape.watch({x}) inside the block before {x} is used, or make it a tf.Variable.

        [tensorflow: block]
        {x} is a tensor that no tape watches. What the block{line} computed from it was not recorded for it.
        Fix: Call tape.watch({x}) at the top of the block, or make it a tf.Variable.

        [tensorflow: made]
        {x} was computed{line} from nothing that a tape watches. It is not watched itself.
        Fix: Call tape.watch({x}) inside the block, before {x} is used.

        [tensorflow: other]
        Another tape watches {x}. The tape that begins here{line}, and computes the gradient, does not.
        Fix: Let this tape watch {x}, too: call its watch({x}) before {x} is used.
        """,
        plans=(block.add_watch,),
    ),
    Cause(
        "watched_late",
        "not_tracked",
        """
        [tape]
        {x} was used before tape.watch{line} was called for it.
        Fix: Move tape.watch({x}) to the top of the block, before {x} is used.

        [tensorflow]
        {x} was used{line} before the tape watched it.
        Fix: Move tape.watch({x}) up, before {x} is used for the first time.
        """,
        plans=(block.add_watch,),
    ),
    Cause(
        "not_trainable",
        "not_tracked",
        """
        [tape]
        {x} is a variable made with trainable=False{line}. No tape watches it by itself.
        Fix: Call tape.watch({x}) at the top of the block, or create the variable with trainable=True.

        [tensorflow]
        {x} is a variable with trainable=False{line}. No tape watches it by itself.
        Fix: Call tape.watch({x}) at the top of the block, or create the variable with trainable=True.

        [tensorflow: left out]
        {x} is not to be trained{line}, and so Keras asks for no gradient of it.
        Fix: Set trainable = True before compile().
        """,
        edits=(
            edit.set_keyword("trainable", True),
            edit.set_trainable,
        ),
        plans=(block.add_watch,),
    ),
    Cause(
        "not_accessed_watched",
        "not_tracked",
        """
        [tape]
        The tape has watch_accessed_variables=False, and did not watch {x}{line}.
        Fix: Call tape.watch({x}) at the top of the block, or leave watch_accessed_variables at True.

        [tensorflow]
        The tape has watch_accessed_variables=False{line}. Nothing watched {x} before its use.
        Fix: Call tape.watch({x}) at the top of the block, or leave watch_accessed_variables at True.
        """,
        edits=(edit.set_keyword("watch_accessed_variables", True),),
        plans=(block.add_watch,),
    ),
    Cause(
        "requires_grad",
        "not_tracked",
        """
        [torch]
        {x} has requires_grad=False{line}, so autograd keeps no gradient for it.
        Fix: Write {x}.requires_grad_() before it is used, or make it with requires_grad=True or as an nn.Parameter.

        [torch: late]
        {x} was used{line} before requires_grad was set. That use is not differentiated.
        Fix: Set requires_grad before {x} is used for the first time, or compute the loss again after it.

        [torch: computed]
        {x} was computed{line} from tensors that require no gradient, so that it requires none.
        Fix: Write {x}.requires_grad_() after this line, before {x} is used.

        [torch: input]
        {x}{line} has requires_grad=False, and torch.autograd.grad was called for its gradient.
        Fix: Write {x}.requires_grad_() before {x} is used.
        """,
        edits=(
            edit.set_trainable,
            edit.set_keyword("requires_grad", True, *edit.TENSOR_MAKERS),
            edit.insert_line_before_use("{x}.requires_grad_()"),
        ),
    ),
    Cause(
        "non_leaf",
        "not_tracked",
        """
        [torch]
        {x} is not a leaf: {what}{line} computed it. autograd writes .grad of leaves only.
        Fix: If {x} is to be trained, make it the leaf: compute first, then .requires_grad_(). To read the gradient
        of what is computed, call {x}.retain_grad() before backward().

        [torch: anew]
        {x} is computed anew where it is read. This one is no leaf, and was not used.
        Fix: Ask about what it is computed from: the leaf that is trained.
        """,
        edits=(edit.make_source_leaf,),
    ),
    Cause(
        "argnums",
        "not_tracked",
        """
        [jax]
        {x} is not differentiated: argnums names other arguments.
        Fix: Name it: argnums={what}, or argnums={other} where the others need a gradient, too.
        """,
        edits=(edit.set_argnums,),
    ),
    Cause(
        "closure",
        "not_tracked",
        """
        [jax]
        {x} is used{line}, but it is no argument of the function. It counts as a constant.
        Fix: Make it an argument, and name it in argnums.

        [jax: beside]
        {x} is used{line} by way of {what}, from outside of the function: a constant there, and not its argument.
        Fix: Use the argument {other} in place of {what}.
        """,
    ),
    Cause(
        "integer_dtype",
        "wrong_dtype",
        """
        [tape]
        The value becomes {what}{line}, and only floats have a gradient.
        Fix: Use a float: write 10.0 instead of 10, pass dtype=tf.float32, or leave out the cast.

        [torch, tensorflow]
        {x} has the dtype {what}{line}, and only floats have gradients.
        Fix in torch: Make {x} a float: write 1.0 instead of 1, or dtype=torch.float32, and set requires_grad=True.
        Fix in tensorflow: Make {x} a float: write 1.0 instead of 1, or dtype=tf.float32.

        [jax]
        {other} has the dtype {what}, and JAX differentiates by floating-point arguments only.
        Fix: Make it a float: write 1.0 instead of 1, or .astype(jnp.float32). What is no parameter, such as a
        counter, belongs into another argument.

        [tape: source]
        {x} is {what}{line}, and only floats have a gradient.
        Fix: Make {x} a float: write 1.0 instead of 1, or dtype=tf.float32.

        [tensorflow: inside]
        {what}{line} makes whole numbers. Only floats have gradients.
        Fix: Leave out the cast, and compute with the float.
        """,
        edits=(
            edit.convert_source_to_float,
            number.pass_straight_through,
        ),
    ),
    Cause(
        "integer_cast",
        "wrong_dtype",
        """
        [torch, jax]
        {what}{line} makes whole numbers. Only floats have gradients.
        Fix: Leave out the cast, and compute with the float.
        """,
        edits=(number.pass_straight_through,),
    ),
)
