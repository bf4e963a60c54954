"""The sentences of ``explain`` for TensorFlow: what each cause means, and how to fix it.

The causes are the causes of ``tape.explain``. In the templates, {x} is the source, {line} the place in brackets,
{what} the operation, and {other} the name of another tensor.
"""

from __future__ import annotations

from ...explain.cause_texts import TEXT as TAPES
from ...explain.value_texts import TENSORFLOW_VALUE_TEXTS, Texts
from ..bridge_texts import SHARED_TEXTS

TEXT: Texts = {
    **SHARED_TEXTS,
    **TENSORFLOW_VALUE_TEXTS,
    # cause: (what happened, what fixes it)
    "not_watched": (
        "{x} is a tensor that no tape watches. What was computed from it{line} was not recorded for it.",
        "Call tape.watch({x}) inside the block before {x} is used, or make it a tf.Variable.",
    ),
    "not_watched block": (
        "{x} is a tensor that no tape watches. What the block{line} computed from it was not recorded for it.",
        "Call tape.watch({x}) at the top of the block, or make it a tf.Variable.",
    ),
    "not_watched made": (
        "{x} was computed{line} from nothing that a tape watches. It is not watched itself.",
        "Call tape.watch({x}) inside the block, before {x} is used.",
    ),
    "not_watched other": (
        "Another tape watches {x}. The tape that begins here{line}, and computes the gradient, does not.",
        "Let this tape watch {x}, too: call its watch({x}) before {x} is used.",
    ),
    "watched_late": (
        "{x} was used{line} before the tape watched it.",
        "Move tape.watch({x}) up, before {x} is used for the first time.",
    ),
    "not_trainable": (
        "{x} is a variable with trainable=False{line}. No tape watches it by itself.",
        "Call tape.watch({x}) at the top of the block, or create the variable with trainable=True.",
    ),
    "not_trainable left out": (
        "{x} is not to be trained{line}, and so Keras asks for no gradient of it.",
        "Set trainable = True before compile().",
    ),
    "not_accessed_watched": (
        "The tape has watch_accessed_variables=False{line}. Nothing watched {x} before its use.",
        "Call tape.watch({x}) at the top of the block, or leave watch_accessed_variables at True.",
    ),
    "integer_dtype": (
        "{x} has the dtype {what}{line}, and only floats have gradients.",
        "Make {x} a float: write 1.0 instead of 1, or dtype=tf.float32.",
    ),
    "integer_dtype inside": (
        "{what}{line} makes whole numbers. Only floats have gradients.",
        "Leave out the cast, and compute with the float.",
    ),
    "stop_gradient": (
        "tf.stop_gradient{line} blocks the gradient from the target to {x}.",
        "Leave out tf.stop_gradient, or apply it only to the part that should count as a constant.",
    ),
    "nondifferentiable": (
        "{what}{line} has no derivative. It is on the path from {x} to the target.",
        "Use a function that has a derivative in its place, or a tf.custom_gradient that says what should pass.",
    ),
    "no_gradient_registered": TAPES["no_gradient_registered"],
    "nondifferentiable none": (
        "TensorFlow's derivative of {what}{line} gave None for this input.",
        "Ask whether the line uses the value itself, or only its shape or dtype.",
    ),
    "nondifferentiable function": (
        "The tf.function {what}{line} gives no gradient for {x}. It is one row here, and may have a tape of "
        "its own inside.",
        "Ask again with record(open_functions=True): it runs the function line by line, and shows which one it is.",
    ),
    "nondifferentiable steps": (
        "{what}{line} is constant in steps: TensorFlow has no derivative for it.",
        "Leave it out while training, or pass the gradient as if it were not there: x + "
        "tf.stop_gradient(tf.round(x) - x).",
    ),
    "recording_paused": (
        "The tape was paused when {what}{line} ran. stop_recording() and tf.init_scope() pause it.",
        "Move the line out of that block.",
    ),
    "computed_before_tape": (
        "{what}{line} ran before the tape's with block began.",
        "Move the line into the with block.",
    ),
    "computed_before_tape made": (
        "{what}{line} ran when the object was made, before the tape's block began. The tape does not know it.",
        "Keep what it is computed from in the object, and compute it in the method that uses it, which runs "
        "inside the block.",
    ),
    "computed_after_tape": (
        "{what}{line} ran after the tape's with block had ended.",
        "Move the line into the with block.",
    ),
    "computed_before_tape other": (
        "{what}{line} ran before the block of the tape that computes the gradient. Another tape recorded it.",
        "Call gradient() of the tape whose block has the line, or move the line into the block of the other.",
    ),
    "computed_after_tape other": (
        "{what}{line} ran after the block of the tape that computes the gradient. Another tape recorded it.",
        "Call gradient() of the tape whose block has the line, or move the line into the block of the other.",
    ),
    "computed_before_tape reset": (
        "tape.reset(){line} dropped what had been recorded before it. The path from {x} to the target is gone.",
        "Call tape.reset() before the computation that you want to differentiate, or not at all.",
    ),
    "computed_after_tape gradient": (
        "{what}{line} ran where no other tape recorded it. The gradient that it gave is a plain value.",
        "For a derivative of a derivative, call the inner tape's gradient() inside of the outer tape's with block.",
    ),
    "left_through_numpy": (
        "The value left TensorFlow by {what}{line}. What came back is a constant without a path to {x}.",
        "Stay with tensors: leave out {what}, and compute with functions of TensorFlow what follows.",
    ),
    "left_through_numpy model": (
        "The value left TensorFlow by {what}{line}, which gives plain arrays. What came back is a constant that "
        "has no connection to {x}.",
        "Call the model itself, as in model(x), in place of {what}.",
    ),
    "left_through_numpy loss": (
        "The value left TensorFlow by {what}{line}, which gives plain numbers. What came back is a constant that "
        "has no connection to {x}.",
        "Compute the loss in the block from what the model itself gives, loss(y, model(x)), in place of {what}.",
    ),
    "left_through_numpy weights": (
        "The value left TensorFlow by {what}{line}, which gives copies. What came back is a constant that "
        "has no connection to {x}.",
        "Use the variables themselves, such as layer.kernel and layer.bias, in place of {what}.",
    ),
    "left_through_numpy python": (
        "The value left TensorFlow by {what}{line}. What came back is a constant without a path to {x}.",
        "Write what the function computes with functions of TensorFlow, and call it without {what}.",
    ),
    "left_through_numpy dataset": (
        "A dataset{line} computes apart from the program, where no tape is. What comes out of it is a "
        "constant without a path to {x}.",
        "Take the plain elements from the dataset, and compute with {x} inside of the tape's block.",
    ),
    "variable_assign": (
        "A variable was assigned{line}. It is a state: it does not know where its value came from.",
        "Compute with the value itself, and assign the variable after it, or outside of the tape.",
    ),
    "python_branch": (
        "A Python condition{line} read the value. No gradient passes the choice of a branch.",
        "Choose with tensors: tf.where(condition, a, b), tf.maximum, or smoothly with tf.sigmoid.",
    ),
    "wrong_object": (
        "{x} was not used. Another variable of the same shape, {other}{line}, was.",
        "Ask about the object that the program uses: the layer or variable was made anew.",
    ),
    "wrong_object cloned": (
        "{x} was not used: a copy of its model{line} was. A copy has variables of its own.",
        "Ask for the gradient of the variables of the model that is called.",
    ),
    "wrong_object equal": (
        "The tensor that was asked about{line} is not the one that was used. Their values are the same.",
        "Give the tensor that is used a name, and ask for its gradient.",
    ),
    "wrong_object read": (
        "{x} is what one reading{line} of the variable {other} gave. The target read it again.",
        "Ask for the gradient of the variable itself.",
    ),
    "wrong_object copied": (
        "{x} itself was not used. A variable was made of its values{line}, and that one was.",
        "Ask for the gradient of the variable, or watch {x} and compute with it.",
    ),
    "wrong_object made": (
        "{x} was made of what the target was computed from{line}. It is not on a path to the target itself.",
        "Ask for the gradient of {other}, or compute the target with {x} in its place.",
    ),
    "wrong_object again": (
        "The target was not computed from {x}{line}, but from the same made again.",
        "Compute it once, and go on with {x}. One model of Keras gives both: keras.Model(model.inputs, "
        "[layer.output, model.output]).",
    ),
    "rebound": (
        "{x} is a plain tensor from here on{line}, and no tf.Variable any more.",
        "Change the variable in place: {x}.assign(...), or {x}.assign_sub(...).",
    ),
    "independent": (
        "{x} was not used for the target.",
        "Use it in the computation, or leave it out of the sources.",
    ),
    "unused_layer": (
        "{x} was not used: its layer {what}{line} was never called.",
        "Call the layer in the computation, or leave its variables out of the sources.",
    ),
    "independent dropped": (
        "{x} goes into {what}{line}, and the target does not depend on that.",
        "Use what it gives for the target, or leave {x} out of the sources.",
    ),
    "target_not_tensor": (
        "The target is a plain {what}: only a tensor knows how it was computed.",
        "Leave out .numpy() and float() where the target is made.",
    ),
    "no_backward": (
        "No gradient was asked for in the block.",
        "Call tape.gradient(loss, {x}) inside the block of record(), or name the target: explain(loss, {x}).",
    ),
    "no_backward inside": (
        "The gradient was asked for inside of a tf.function, which does not run again here.",
        "Ask again with record(open_functions=True): it runs the function line by line.",
    ),
    "no_backward tape": (
        "No tape was there in the block: nothing was recorded for {x}.",
        "Compute the target in the block of a tf.GradientTape, and ask that tape for the gradient.",
    ),
}

VARIANT_BY_KERAS_FUNCTION = {
    "predict": "model",
    "predict_on_batch": "model",
    "predict_step": "model",
    "evaluate": "loss",
    "test_on_batch": "loss",
    "train_on_batch": "loss",
    "fit": "loss",
    "get_weights": "weights",
    "convert_to_numpy": "",
}
