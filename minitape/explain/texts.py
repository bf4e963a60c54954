"""The sentences of `explain`: what each cause means, and what fixes it.

A key is a cause, or a cause and a kind of it (see :mod:`advice`). In the sentences {x} is the source, {line} the place
in brackets, {what} the operation or name, {code} the expression or the statement there, {instead} what to write for it.
"""

from __future__ import annotations

_NUMPY = "{what}{line} took the value out of TensorFlow. What came back has no connection to {x}."
_STATE = "{what}{line} stored the value in a variable. That does not know where the value came from."
_FLAT = "TensorFlow has no derivative of {what}{line}. No gradient passes it."
_STEP = "{what}{line} goes in steps, and no gradient passes a step."
_BEFORE = "{what} ran before the tape's with block began{line}."
_AFTER = "{what} ran after the tape's with block had ended{line}."
_MOVE = "Move the line into the with block{used}."
_OUTSIDE = "{what} ran outside the tape's with block{line}."
_REBOUND = "The name {what} was bound again{line}: the target was computed with another object."
_REPLACED = "The name {what} was given to a new tensor{line}, which the tape does not watch."
_IN_PLACE = "Change a variable in place with assign, assign_add or assign_sub, or give the new value another name."
_ASSIGN = "Keep the variable and change its value: write {instead}. Or give the new value another name."
_BEHIND = "Give the new value another name, or call tape.watch({x}) after this line: the tape watches the old value."
_DRAW = """Multiply the outcome by the log-probability of what was drawn, or write the draw as a function of the \
parameters: \
mu + sigma * noise, or Gumbel-softmax."""
_VALUES = (
    "Use the values (tf.reduce_max, tf.nn.softmax, tf.sort) or a loss on the scores themselves, such as a "
    "cross-entropy."
)
_BLEND = """Weight all the candidates, with w = tf.nn.softmax(-(x[..., None] - tf.range(n, dtype=x.dtype)) ** 2) of \
the float x for n of them: \
tf.tensordot(w, table, 1) in place of a lookup, tf.einsum('...i,...j,ij->...', w0, w1, image) with a w for each axis \
in an image."""
_BRANCH = "Choose with tensors: tf.where(condition, a, b), tf.maximum, tf.minimum, or smoothly with tf.sigmoid."
_REWRITE = "Write it with tf operations, or give it a derivative with tf.custom_gradient."
_TENSORS = "Stay with tf operations: tf.reduce_mean instead of np.mean, tensors instead of .numpy() and float()."

TEXT = {
    # cause: (what happened, what fixes it)
    "not_watched": (
        "The tape does not watch {x}, a tensor, so its use{line} was not recorded.",
        "Call tape.watch({x}) inside the block before {x} is used, or make it a tf.Variable.",
    ),
    "watched_late": (
        "{x} was used before tape.watch{line} was called for it.",
        "Move tape.watch({x}) to the top of the block, before {x} is used.",
    ),
    "not_trainable": (
        "{x} is a variable made with trainable=False{line}. No tape watches it by itself.",
        "Call tape.watch({x}) at the top of the block, or create the variable with trainable=True.",
    ),
    "not_trainable layer": (
        "{x} is in a layer{line} that is not trainable. No tape watches it by itself.",
        "Ask for the gradients of {code}.trainable_variables. For this one call tape.watch({used}) at the top of "
        "the block.",
    ),
    "not_accessed_watched": (
        "The tape has watch_accessed_variables=False, and did not watch {x}{line}.",
        "Call tape.watch({x}) at the top of the block, or leave watch_accessed_variables at True.",
    ),
    "not_accessed_watched layer": (
        "The tape has watch_accessed_variables=False, and did not watch {x}{line}.",
        "Call tape.watch([v.value for v in {code}.trainable_variables]) at the top of the block, or leave "
        "watch_accessed_variables at "
        "True.",
    ),
    "integer_dtype": (
        "The value is {what}{line}, and only floats have a gradient.",
        "Use a float: write 10.0 instead of 10, pass dtype=tf.float32, or leave out the cast.",
    ),
    "integer_dtype source": ("{x} is {what}{line}, and only floats have a gradient.", "Make {x} a float: {instead}."),
    "integer_dtype source bool": (
        "{x} is {what}{line}: it chooses, and no gradient passes a choice.",
        "Leave {x} out of the sources, or make it a float between 0.0 and 1.0 that weights both sides: x * a + (1 - "
        "x) * b.",
    ),
    "integer_dtype source text": (
        "{x} is {what}{line}, and only floats have a gradient.",
        "Keep the number itself in {x}, or ask for the gradient of the number that is read from it.",
    ),
    "integer_dtype source index": (
        "{x} is {what}{line}: it says which rows are taken, and no gradient passes an index.",
        "Ask for the gradient of the rows that it chooses, tape.watch(rows), or of the table itself.",
    ),
    "integer_dtype inside": (
        "{code}{line} makes the value {what}, and only floats have a gradient.",
        "Leave {code} out and compute with the float, or ask for the gradient of a float that is computed after it.",
    ),
    "integer_dtype embedding": (
        "{code}{line} uses its input as row numbers, and no gradient passes an index.",
        "Ask for the gradient of the rows that it gives, tape.watch(rows), or of {code}.trainable_variables.",
    ),
    "integer_dtype embedding inside": (
        "An embedding in {code}{line} uses its input as row numbers. No gradient passes an index.",
        "Call the embedding separately, rows = embedding(x), watch its rows with tape.watch(rows), and pass them to "
        "the next layers: ask for the gradient of rows. Or ask for {code}.trainable_variables.",
    ),
    "integer_dtype cast": (
        "The value becomes {what}{line}, and only floats have a gradient.",
        "Leave out the cast, or use the float for everything that needs a gradient.",
    ),
    "integer_dtype cast index": (
        "The value becomes {what}{line} to choose by it, and no gradient passes a choice.",
        f"{_BLEND} Or ask for the gradient of the table.",
    ),
    "integer_dtype cast through": (
        "The value becomes {what}{line}, and only floats have a gradient.",
        "Leave out the cast, or use the float for everything that needs a gradient. To let the gradient pass "
        "as if nothing were "
        "cut off, write {code} + tf.stop_gradient({instead} - {code}).",
    ),
    "integer_dtype text": (
        "The value becomes text{line}, which has no gradient.",
        "Keep the number: a text has no derivative, also when it is read as a number again.",
    ),
    "stop_gradient": (
        "tf.stop_gradient{line} blocks the gradient from the target to {x}.",
        "Leave out tf.stop_gradient, or apply it only to the part that should count as a constant.",
    ),
    "recording_paused": (
        "The tape was inside {function}() when this ran{line}, so it was not recorded.",
        "Move the line out of the {function}() block, or leave that with statement out.",
    ),
    "recording_paused watch": (
        "tape.watch{line} was called inside stop_recording(), where it has no effect.",
        "Call tape.watch({x}) outside the stop_recording() block, before {x} is used.",
    ),
    "outside_tape": (_OUTSIDE, _MOVE),
    "outside_tape before": (_BEFORE, _MOVE),
    "outside_tape after": (_AFTER, _MOVE),
    "outside_tape called": (
        _BEFORE,
        "Call {function} inside the with block, and use what it computes then, not what was kept from before.",
    ),
    "outside_tape cached": (
        "{what} ran before the tape's with block began{line}. {function} keeps its result.",
        "Compute it anew inside the block: leave out the cache of {function}.",
    ),
    "outside_tape setup": (
        "{what} ran in {function}{line} once, before the tape's block began.",
        "Compute it where it is used, inside the block: in call, __call__ or the function that the block calls.",
    ),
    "outside_tape earlier": (
        "{what} ran in an earlier round{line}. Another tape recorded it.",
        "Compute the value anew in this round, or let one with block span all the rounds.",
    ),
    "outside_tape another": (
        "{what}{line} ran under another tape, not under this one.",
        "Run it anew inside this tape's block: what was kept from before belongs to the other tape. Or ask that "
        "tape for the gradient, "
        "or nest the two.",
    ),
    "outside_tape elsewhere": (
        "{what}{line} ran outside the with block, in another thread or in tf.data. No tape records there.",
        "Compute it in the block itself. Take only data from a dataset or from another thread.",
    ),
    "outside_tape data": (
        "{what}{line} ran in a dataset's function, where no tape follows.",
        "Put only data into the dataset, and compute {what} from its elements, inside the block.",
    ),
    "outside_tape gradient": (
        "The gradient was computed outside the tape's with block{line}.",
        "For a second derivative nest two tapes, and call gradient of the inner one inside the outer one's with block.",
    ),
    "outside_tape itself": (
        "A tape does not record the gradient that it computes itself{line}.",
        "For a second derivative nest two tapes, and call gradient of the inner one inside the outer one's with block.",
    ),
    "outside_tape reset": (
        "tape.reset(){line} dropped what had been recorded before it.",
        "Call tape.reset() before the computation that you want to differentiate, or not at all.",
    ),
    "state": (
        _STATE,
        "Compute with tensors instead of storing the value: use the expression itself where the variable is read.",
    ),
    "state expression": (
        _STATE,
        "Compute with tensors instead of storing the value: use {instead} where {code} is read.",
    ),
    "state changed": (
        _STATE,
        "Compute the new value as a tensor first, value = {instead}. Store it by {code}.assign(value), and go on "
        "with value, not with "
        "{code}.",
    ),
    "state part": (
        _STATE,
        "Change a tensor instead: {instead}({code}, ...) gives a new one, to be read in place of {code}. Or collect "
        "the parts in a list "
        "and join them with tf.stack.",
    ),
    "state layer": (
        _STATE,
        "Ask for the gradient of {code}, which the computation uses: that of {x} follows from it. Or compute the "
        "layer's result with "
        "tensors.",
    ),
    "state before": (
        _STATE,
        "Ask for the gradient of {code}, which the computation uses, or use {x} itself inside the with block.",
    ),
    "state variable": (
        "tf.Variable{line} made a new variable of the value. That does not know where it came from.",
        "Leave out tf.Variable and keep the tensor.",
    ),
    "state variable before": (
        "tf.Variable{line} made a new variable, {code}, of the value.",
        "Ask for the gradient of {code}, which the computation uses. Or leave out tf.Variable and compute the "
        "tensor inside the with "
        "block.",
    ),
    "state metric": (
        "A metric{line} adds up in variables: its result does not know what it was made of.",
        "Differentiate a loss (tf.keras.losses) or the value itself, and keep the metric for reports.",
    ),
    "state optimizer": (
        "The optimizer's step{line} stored new values in variables. They do not know where they came from.",
        "To differentiate through a step compute the new weights as tensors, w - rate * g, and use those.",
    ),
    "left_through_numpy": (_NUMPY, _TENSORS),
    "left_through_numpy instead": (_NUMPY, "Use {instead} instead of {code}, and tensors all the way."),
    "left_through_numpy places": (
        _NUMPY,
        f"{{what}} gives places, not values, and tf has no derivative of it either. {_VALUES}",
    ),
    "left_through_numpy rounded": (
        _NUMPY,
        "Stay with tensors. tf has no derivative of a rounding either: to pass the gradient as if nothing was "
        "rounded write {code} + "
        "tf.stop_gradient({instead} - {code}).",
    ),
    "left_through_numpy counted": (
        _NUMPY,
        "{what} counts, and tf has no derivative of that either. Use a smooth count: a sum of tf.sigmoid, or of "
        "tf.exp(-(x - centre) ** "
        "2) for each bin.",
    ),
    "left_through_numpy drop": (_NUMPY, "Write {instead} instead of {code}, and go on with tf operations."),
    "left_through_numpy whole": (
        "{code}{line} made a whole number of Python of the value. It has no connection to {x}.",
        "Compute with {instead} itself. A size, an index or a number of steps has no gradient: weight all the "
        "candidates instead, or "
        "train what it is computed from.",
    ),
    "left_through_numpy text": (
        "The value became text{line}, which has no connection to {x}.",
        "Keep the number as well as the text, and compute with the number.",
    ),
    "left_through_numpy copy": (
        "{code}{line} copies what a variable holds. The copy has no connection to {x}.",
        "Use the variable itself, or tf.identity of it to keep its present value.",
    ),
    "left_through_numpy predict": (
        "{code}{line} returns NumPy arrays, or plain numbers. They have no connection to {x}.",
        "Call the model itself inside the block, model(x), and compute the loss from its result.",
    ),
    "left_through_numpy weights": (
        "{code}{line} returns NumPy copies of the weights. They have no connection to {x}.",
        "Use the variables themselves: layer.kernel, model.trainable_variables. Where a copy of the model was run, "
        "ask for the copy's "
        "variables, or run this model.",
    ),
    "left_through_numpy choice": (
        "Python decided by the value{line} what runs next, and no gradient passes a choice.",
        _BRANCH,
    ),
    "left_through_numpy index": (
        "The value was used as an index or a size{line}, and no gradient passes those.",
        "Weight all the candidates instead, for example with tf.nn.softmax, or train what the index is computed from.",
    ),
    "left_through_numpy function": (
        "{code}{line} runs NumPy code, which no tape follows.",
        "Write it with tf operations, also inside tf.py_function, or give it a derivative with tf.custom_gradient.",
    ),
    "left_through_numpy library": (
        "{code}{line} knows no tensors. What came back is a constant without a path to {x}.",
        _REWRITE,
    ),
    "left_through_numpy by library": (_NUMPY, _REWRITE),
    "left_through_numpy target": (
        "The target is no tensor: {what}.",
        "Pass the tensor itself as the target, without .numpy(), float() or NumPy functions in between.",
    ),
    "rebound": (_REBOUND, _IN_PLACE),
    "rebound replaced": (_REPLACED, _IN_PLACE),
    "rebound tensor": (_REBOUND, _BEHIND),
    "rebound replaced tensor": (_REPLACED, _BEHIND),
    "rebound new": (
        "{what} was made again{line}. The target was computed with another one than that of {x}.",
        "Make {what} only once. Or read its variables again after that line, and run the with block after it.",
    ),
    "rebound inside": (
        "{what} is made again{line} each time. The with block used a new one, and not {x}.",
        "Make {what} once, before the with block, and use it each time.",
    ),
    "rebound assign": (_REBOUND, _ASSIGN),
    "rebound replaced assign": (_REPLACED, _ASSIGN),
    "wrong_object": (
        "The target was computed from another object than {x}{line}.",
        "Pass the very tensor or variable that was used in the computation (and watch that one).",
    ),
    "wrong_object run": (
        "The target was computed by another run of the layers{line} than the one that gave {x}.",
        "Get both from one call, of tf.keras.Model({code}.inputs, [layer.output, {code}.output]).",
    ),
    "wrong_object named": (
        "The target was computed from {code}{line}, not from {x}.",
        "Use {x} instead of {code} there{watched}, or watch {code} as a tensor and ask for its gradient.",
    ),
    "wrong_object copy": (
        "{x} is another object{line} than the one that the target was computed from.",
        "Pass the very tensor or variable that was used in the computation, or compute the target from {x}{watched}.",
    ),
    "independent": (
        "The target was not computed from {x}.",
        "Use {x} in the computation of the target{watched}, or leave it out of the sources. "
        'unconnected_gradients="zero" gives zeros '
        "instead of None.",
    ),
    "wrong_object model": (
        "{x} is no variable but a {what}, which holds variables.",
        "Pass its variables: {x}.trainable_variables.",
    ),
    "wrong_object symbol": (
        "{x} is a symbol of a Keras model: it has no value, and no tape can know it.",
        "Pass the tensor that the model was called with, and watch that one before the call.",
    ),
    "wrong_object symbol inside": (
        "{x} is a symbol of a Keras model: it has no value, and no tape can know it.",
        "Get its value from the run: features, out = tf.keras.Model(model.inputs, [{x}, model.output])(x) inside "
        "the block, and ask for "
        "the gradient of features.",
    ),
    "wrong_object layer": (
        "{x} is a variable of Keras, and the tf.Variable is inside it.",
        "Watch that one: tape.watch({x}.value).",
    ),
    "wrong_object plain": (
        "{x} is no tensor and no variable, but of the type {what}: no tape can know it.",
        "Make it a tf.Variable, or a tensor that the tape watches, and compute the target from that.",
    ),
    "independent None": (
        "The target is None: whatever should have made it returned nothing.",
        "See whether the function that computes the target ends with a return.",
    ),
    "independent swapped": (
        "{x} was computed from the target, not the target from {x}: the two are swapped.",
        "Swap the arguments: first what was computed, then what it was computed from, tape.gradient({x}, ...).",
    ),
    "independent used": (
        "{x} was used ({used}), and its result does not lead to the target.",
        "Use that result in the computation of the target, or leave {x} out of the sources. "
        'unconnected_gradients="zero" gives zeros '
        "instead of None.",
    ),
    "independent added": (
        "{x} was used in add_loss ({used}), and the target leaves those losses out.",
        "Add them to the target: loss + sum(model.losses), of the model or layer that was called.",
    ),
    "independent branch": (
        "{x} is used in a branch alone ({used}), which did not run.",
        "See whether the condition there holds when you expect it to, or leave {x} out of the sources.",
    ),
    "independent statistic": (
        "{x} is a statistic that its layer adjusts while it runs. The target was not computed from it.",
        "Ask for the gradients of {code}.trainable_variables, which leave it out.",
    ),
    "independent constant": (
        "The target is a constant{used}: it was not computed from {x}.",
        "Compute the target from {x} with tf operations, inside the with block{watched}.",
    ),
    "independent derivative": (
        "The target is a derivative, and {x} is not in it: what was differentiated is linear in {x}, or has no {x}.",
        "A linear function has the second derivative 0, which TensorFlow gives as None: ask with "
        'unconnected_gradients="zero", or '
        "leave {x} out of the sources.",
    ),
    "nondifferentiable_op": (
        _FLAT,
        "No gradient passes it. Compute the target without its result, or define a gradient for it with "
        "tf.custom_gradient.",
    ),
    "nondifferentiable_op custom": (
        "The gradient function of {code}{line} returns None for what came from {x}.",
        "Let it return a gradient for each input of {code}.",
    ),
    "nondifferentiable_op step": (
        _STEP,
        "To pass the gradient as if nothing was rounded write {code} + tf.stop_gradient({instead} - {code}), or "
        "leave it out while "
        "training.",
    ),
    "nondifferentiable_op step whole": (
        _STEP,
        "No gradient passes a whole number. Where a float will do, write {code} + tf.stop_gradient({instead} - "
        "{code}) in place of it; "
        "an index or a size has no gradient.",
    ),
    "nondifferentiable_op choice": ("{what}{line} gives places, which have no derivative.", _VALUES),
    "nondifferentiable_op row": (
        "{what}{line} gives places, not values: they choose the rows of a table.",
        "Weight all the rows by the scores (of a minimum, by -x): tf.tensordot(tf.nn.softmax(x), table, 1). Where "
        "the row represents a z, as in a code book, pass the gradient on to that: z + tf.stop_gradient(row - z).",
    ),
    "nondifferentiable_op order": (
        _FLAT,
        "Count smoothly how many of the sorted values are smaller: tf.reduce_sum(tf.sigmoid(k * (x[..., None] - "
        "sorted)), -1).",
    ),
    "nondifferentiable_op range": (
        _FLAT,
        "Take a fixed number of points, and scale them: start + (stop - start) * tf.linspace(0.0, 1.0, n).",
    ),
    "nondifferentiable_op shuffle": (
        "{what}{line} puts the rows into an order drawn at random. It has no derivative.",
        "Shuffle the places, and take the rows by them: tf.gather(x, tf.random.shuffle(tf.range(tf.shape(x)[0]))).",
    ),
    "nondifferentiable_op truth": (
        "{what}{line} is true or false. No gradient passes that.",
        "Use a smooth step, s = tf.sigmoid(k * (a - b)): s * p + (1 - s) * q in place of tf.where or tf.cond, s * t "
        "in place of and, 1 - "
        "s of not. Or a loss on the values themselves: an accuracy cannot be trained on.",
    ),
    "nondifferentiable_op python": (
        "Python's {what}{line} gave another value than the one that was computed from {x}.",
        "Write {instead}(a, b), or tf.reduce_{what} of a list: tensors, of which the tape records both. The tensor "
        "that is not taken gets the gradient zero.",
    ),
    "nondifferentiable_op branch": ("Python took a branch by {what}{line}, and no gradient passes a choice.", _BRANCH),
    "nondifferentiable_op hits": (
        "{what}{line} counts hits. No gradient passes a count.",
        "Train on a loss (tf.keras.losses), such as a cross-entropy, and keep the accuracy for reports.",
    ),
    "nondifferentiable_op sample": ("{what}{line} draws at random. No gradient passes to what it draws from.", _DRAW),
    "nondifferentiable_op shape": (
        "{what}{line} depends on the shape of its input alone, not on the values.",
        "Compute with the values of {x} themselves.",
    ),
    "nondifferentiable_op count": (
        "{what}{line} counts, and no gradient passes a count.",
        "Use a smooth count: a sum of tf.sigmoid, or of tf.exp(-(x - centre) ** 2) for each bin.",
    ),
    "nondifferentiable_op data": (
        "A dataset runs beside the program, where no tape follows{line}.",
        "Put only data into the dataset, and compute with its elements inside the block.",
    ),
    "nondifferentiable_op loop": (
        "In a function a loop over a dataset is one operation{line}. No gradient passes it.",
        "Loop over iter(...) of the dataset, or take the gradient for each element, inside the loop.",
    ),
    "no_gradient_registered": (
        "No gradient is registered for {what}{line}.",
        "Use an operation that has a gradient, or wrap this one in tf.custom_gradient.",
    ),
    "no_gradient_registered sample": ("{what}{line} draws at random, and no gradient is registered for it.", _DRAW),
    "unused_layer": (
        "{x} was not used: its layer {what}{line} was never called.",
        "Call the layer in the computation, or leave its variables out of the sources.",
    ),
    "unused_layer own": (
        "{x} was not used. Its layer {what}{line} was not called, or its call leaves {x} out.",
        "Call the layer in the computation, and let its call use {x}. Or leave its variables out of the sources.",
    ),
    "unused_layer branch": (
        "{x} was not used. Its layer {what} is called in a branch alone{line}, which did not run.",
        "See whether the condition there holds when you expect it to, or leave {x} out of the sources.",
    ),
    "connected": ("The target depends on {x}, and the tape recorded how.", ""),
}
