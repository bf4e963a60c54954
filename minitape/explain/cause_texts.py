"""The sentences of `explain`: what each cause means, and how to fix it.

A key is a cause, or a cause and a variant (see ``reasons/tape_sentences.py``). A variant without a message has the
message of its cause. The fields of the sentences are:

* {x}: the source;
* {line}: the place in brackets;
* {what}: the operation or name;
* {code}: the expression or the statement at that place;
* {instead}: what to write in its place.
"""

from __future__ import annotations

Texts = dict[str, tuple[str, str]]


def parse_sentence_table(table: str) -> Texts:
    r"""Parse a table with a key, a message and a fix in each paragraph.

    Args:
        table: The paragraphs, separated by empty lines. The first line of a paragraph is its key, and the fix follows
            "Fix:". Without a message, the message of the first word of the key applies.

    Returns:
        The message and the fix, by key.

    >>> parse_sentence_table("late\nIt was late.\nFix: Begin\nearlier.\n\nlate again\nFix: Leave it.")
    {'late': ('It was late.', 'Begin earlier.'), 'late again': ('It was late.', 'Leave it.')}
    """
    texts: Texts = {}
    for paragraph in table.strip().split("\n\n"):
        key, _, sentences = paragraph.partition("\n")
        message, _, fix = f" {sentences}".replace("\n", " ").partition(" Fix: ")
        texts[key] = message.strip() or texts[key.split()[0]][0], fix
    return texts


TEXT = parse_sentence_table(
    """
not_watched
The tape does not watch {x}, a tensor, so its use{line} was not recorded.
Fix: Call tape.watch({x}) inside the block before {x} is used, or make it a tf.Variable.

watched_late
{x} was used before tape.watch{line} was called for it.
Fix: Move tape.watch({x}) to the top of the block, before {x} is used.

not_trainable
{x} is a variable made with trainable=False{line}. No tape watches it by itself.
Fix: Call tape.watch({x}) at the top of the block, or create the variable with trainable=True.

not_accessed_watched
The tape has watch_accessed_variables=False, and did not watch {x}{line}.
Fix: Call tape.watch({x}) at the top of the block, or leave watch_accessed_variables at True.

integer_dtype
The value becomes {what}{line}, and only floats have a gradient.
Fix: Use a float: write 10.0 instead of 10, pass dtype=tf.float32, or leave out the cast.

integer_dtype source
{x} is {what}{line}, and only floats have a gradient.
Fix: Make {x} a float: write 1.0 instead of 1, or dtype=tf.float32.

stop_gradient
tf.stop_gradient{line} blocks the gradient from the target to {x}.
Fix: Leave out tf.stop_gradient, or apply it only to the part that should count as a constant.

recording_paused
The tape was inside {function}() when this ran{line}, so it was not recorded.
Fix: Move the line out of the {function}() block, or leave that with statement out.

recording_paused watch
tape.watch{line} was called inside stop_recording(), where it has no effect.
Fix: Call tape.watch({x}) outside the stop_recording() block, before {x} is used.

outside_tape
{what} ran outside the tape's with block{line}.
Fix: Move the line into the with block.

outside_tape before
{what} ran before the tape's with block began{line}.
Fix: Move the line into the with block.

outside_tape after
{what} ran after the tape's with block had ended{line}.
Fix: Move the line into the with block.

outside_tape setup
{what} ran in {function}{line} once, before the tape's block began.
Fix: Compute it where it is used, inside the block: in call, __call__ or the function that the block calls.

outside_tape another
{what}{line} ran under another tape, not under this one.
Fix: Run it anew inside this tape's block: what was kept from before belongs to the other tape. Or ask that tape for the
gradient, or nest the two.

outside_tape gradient
The gradient was computed outside the tape's with block{line}.
Fix: For a second derivative nest two tapes, and call gradient of the inner one inside the outer one's with block.

outside_tape reset
tape.reset(){line} dropped what had been recorded before it.
Fix: Call tape.reset() before the computation that you want to differentiate, or not at all.

state
{what}{line} stored the value in a variable. That does not know where the value came from.
Fix: Compute with tensors instead of storing the value: use the expression itself where the variable is read.

state expression
Fix: Compute with tensors instead of storing the value: use {instead} where {code} is read.

state changed
Fix: Compute the new value as a tensor first, value = {instead}. Store it by {code}.assign(value), and go on with value,
not with {code}.

state before
Fix: Ask for the gradient of {code}, which the computation uses, or use {x} itself inside the with block.

state variable
tf.Variable{line} made a new variable of the value. That does not know where it came from.
Fix: Leave out tf.Variable and keep the tensor.

state variable before
tf.Variable{line} made a new variable, {code}, of the value.
Fix: Ask for the gradient of {code}, which the computation uses. Or leave out tf.Variable and compute the tensor inside
the with block.

left_through_numpy
{what}{line} took the value out of TensorFlow. What came back has no connection to {x}.
Fix: Stay with tf operations: tf.reduce_mean instead of np.mean, tensors instead of .numpy() and float().

left_through_numpy text
The value became text{line}, which has no connection to {x}.
Fix: Keep the number as well as the text, and compute with the number.

left_through_numpy copy
{code}{line} copies what a variable holds. The copy has no connection to {x}.
Fix: Use the variable itself, or tf.identity of it to keep its present value.

left_through_numpy choice
Python decided by the value{line} what runs next, and no gradient passes a choice.
Fix: Choose with tensors: tf.where(condition, a, b), tf.maximum, tf.minimum, or smoothly with tf.sigmoid.

left_through_numpy index
The value was used as an index or a size{line}, and no gradient passes those.
Fix: Weight all the candidates instead, for example with tf.nn.softmax, or train what the index is computed from.

left_through_numpy function
{code}{line} runs NumPy code, which no tape follows.
Fix: Write it with tf operations, also inside tf.py_function, or give it a derivative with tf.custom_gradient.

left_through_numpy target
The target is no tensor: {what}.
Fix: Pass the tensor itself as the target, without .numpy(), float() or NumPy functions in between.

rebound
The name {what} was bound again{line}: the target was computed with another object.
Fix: Change a variable in place with assign, assign_add or assign_sub, or give the new value another name.

rebound replaced
The name {what} was given to a new tensor{line}, which the tape does not watch.
Fix: Change a variable in place with assign, assign_add or assign_sub, or give the new value another name.

rebound tensor
Fix: Give the new value another name, or call tape.watch({x}) after this line: the tape watches the old value.

rebound replaced tensor
The name {what} was given to a new tensor{line}, which the tape does not watch.
Fix: Give the new value another name, or call tape.watch({x}) after this line: the tape watches the old value.

rebound new
{what} was made again{line}. The target was computed with another one than that of {x}.
Fix: Make {what} only once. Or read its variables again after that line, and run the with block after it.

rebound assign
Fix: Keep the variable and change its value: write {instead}. Or give the new value another name.

rebound replaced assign
The name {what} was given to a new tensor{line}, which the tape does not watch.
Fix: Keep the variable and change its value: write {instead}. Or give the new value another name.

wrong_object
The target was computed from another object than {x}{line}.
Fix: Pass the very tensor or variable that was used in the computation, or compute the target from {x}{watched}.

independent
The target was not computed from {x}.
Fix: Use {x} in the computation of the target{watched}, or leave it out of the sources. unconnected_gradients="zero"
gives zeros instead of None.

wrong_object model
{x} is no variable but a {what}, which holds variables.
Fix: Pass its variables: {x}.trainable_variables.

wrong_object layer
{x} is a variable of Keras, and the tf.Variable is inside it.
Fix: Watch that one: tape.watch({x}.value).

wrong_object plain
{x} is no tensor and no variable, but of the type {what}: no tape can know it.
Fix: Make it a tf.Variable, or a tensor that the tape watches, and compute the target from that.

independent None
The target is None: whatever should have made it returned nothing.
Fix: See whether the function that computes the target ends with a return.

independent swapped
{x} was computed from the target, not the target from {x}: the two are swapped.
Fix: Swap the arguments: first what was computed, then what it was computed from, tape.gradient({x}, ...).

independent used
{x} was used, and what came of it{used} does not lead to the target.
Fix: Use that result in the computation of the target, or leave {x} out of the sources. unconnected_gradients="zero"
gives zeros instead of None.

independent constant
The target is a constant{used}: it was not computed from {x}.
Fix: Compute the target from {x} with tf operations, inside the with block{watched}.

independent derivative
The target is a derivative, and {x} is not in it: what was differentiated is linear in {x}, or has no {x}.
Fix: A linear function has the second derivative 0, which TensorFlow gives as None: ask with
unconnected_gradients="zero", or leave {x} out of the sources.

nondifferentiable_op
TensorFlow has no derivative of {what}{line}. No gradient passes it.
Fix: No gradient passes it. Compute the target without its result, or define a gradient for it with tf.custom_gradient.

nondifferentiable_op step
{what}{line} goes in steps, and no gradient passes a step.
Fix: Leave it out while training, or pass the gradient as if it were not there: x + tf.stop_gradient(tf.round(x) - x).

nondifferentiable_op python
Python's {what}{line} gave another value than the one that was computed from {x}.
Fix: Write {instead}(a, b), or tf.reduce_{what} of a list: tensors, of which the tape records both. The tensor that is
not taken gets the gradient zero.

nondifferentiable_op shape
{what}{line} depends on the shape of its input alone, not on the values.
Fix: Compute with the values of {x} themselves.

no_gradient_registered
No gradient is registered for {what}{line}.
Fix: Use an operation that has a gradient, or wrap this one in tf.custom_gradient.

unused_layer
{x} was not used. Its layer {what}{line} was not called, or its call leaves {x} out.
Fix: Call the layer in the computation, and let its call use {x}. Or leave its variables out of the sources.

connected
The target depends on {x}, and the tape recorded how.
"""
)
