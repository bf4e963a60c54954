"""What fixes an error: a sentence for each pattern in the messages of TensorFlow, Python and minitape."""

from __future__ import annotations

MISSING_NAME = "If a cell above makes this name, run that cell first: menu Run, Run All Above Selected Cell."
ADVICE = {
    r"^Cannot convert .* of dtype u?int": "The tensor or variable beside it holds integers. Write its number with a "
    "point, tf.Variable(3.0), or make floats of it: tf.cast(x, tf.float32).",
    r"was expected to be a \w+ tensor but is|of one dtype, got": "Both must have one dtype: cast one of "
    "them, tf.cast(x, tf.float32). NumPy's arrays are float64 unless you say tf.constant(array, tf.float32).",
    r"not u?int\d+: cast it": "Write its numbers with a point, 3.0 for 3, or cast it: tf.cast(x, tf.float32).",
    r"^concat_dim": "The tensors stand in a list, before the axis: tf.concat([a, b], 0).",
    r"^Incompatible shapes": "Counted from the last axis, two sizes fit when they are equal or one of them is 1.",
    r"two axes or more, got the shapes": "For a matrix and a vector there is tf.linalg.matvec(matrix, vector); "
    "x[:, tf.newaxis] makes a column of a vector.",
    r"`type_value`": "A dtype is asked for here, such as tf.float32. The sizes of a shape are one list: "
    "tf.zeros([2, 3]).",
    r"to ResourceVariable.__format__": "Format the value of a variable: x.numpy().",
    r"to numpy.ndarray.__format__": "Only a single number has a format: take one, x[0], or print the tensor as it is.",
    r"item assignment": "A tensor never changes. Of a variable, v = tf.Variable(x), a part does: v[0].assign(value).",
    r"truth value of an array": "Ask for all or for any of its elements, tf.reduce_all(x > 0), or choose for each of "
    "them: tf.where(x > 0, a, b).",
    r"only 0-dimensional arrays": "Only a single number becomes one of Python's: take one, x[0], or compute with "
    "functions of tf.",
    r"Tensor\(\) takes no arguments": "Make a tensor by tf.constant(value).",
    r"GradientTape.*argument.*'sources'": "A gradient is of something with respect to something: tape.gradient(y, x).",
    r"GradientTape.*argument 'persistant'": "It is spelled persistent=True.",
    r"argument '(dim|keepdim|lr|requires_grad)'": "These arguments are called axis, keepdims, learning_rate, and "
    "trainable of a tf.Variable.",
    r"object has no attribute '(shape|dtype|differentiable)'": "A tape knows tensors and variables: pass them as they "
    "are, without .numpy(), float() or NumPy functions in between.",
    r"__round__": "Round a number of Python's: round(float(x), 2).",
}
