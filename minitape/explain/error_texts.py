"""Parse the advice on errors, which pairs message patterns with sentences."""

from __future__ import annotations

MISSING_NAME = "If a cell above makes this name, run that cell first: menu Run, Run All Above Selected Cell."


def parse_advice(table: str) -> dict[str, str]:
    r"""Parse a table of advice.

    Args:
        table: Paragraphs, separated by empty lines. The first line of each paragraph is a pattern for error messages.
            The remaining lines are the advice.

    Returns:
        The advice by pattern.

    >>> parse_advice("^slice\nA number\nhas no parts.")
    {'^slice': 'A number has no parts.'}
    """
    paragraphs = (paragraph.partition("\n") for paragraph in table.strip().split("\n\n"))
    return {pattern: sentences.replace("\n", " ") for pattern, _, sentences in paragraphs}


ADVICE = parse_advice(
    r"""
^Cannot convert .* of dtype u?int
The tensor or variable beside it holds integers. Write its number with a point, tf.Variable(3.0), or make floats of it:
tf.cast(x, tf.float32).

was expected to be a \w+ tensor but is|of one dtype, got
Both must have one dtype: cast one of them, tf.cast(x, tf.float32). NumPy's arrays are float64 unless you say
tf.constant(array, tf.float32).

not u?int\d+: cast it
Write its numbers with a point, 3.0 for 3, or cast it: tf.cast(x, tf.float32).

^concat_dim
The tensors stand in a list, before the axis: tf.concat([a, b], 0).

^Incompatible shapes
Counted from the last axis, two sizes fit when they are equal or one of them is 1.

two axes or more, got the shapes
For a matrix and a vector there is tf.linalg.matvec(matrix, vector); x[:, tf.newaxis] makes a column of a vector.

`type_value`
A dtype is asked for here, such as tf.float32. The sizes of a shape are one list: tf.zeros([2, 3]).

to ResourceVariable.__format__
Format the value of a variable: x.numpy().

to numpy.ndarray.__format__
Only a single number has a format: take one, x[0], or print the tensor as it is.

item assignment
A tensor never changes. Of a variable, v = tf.Variable(x), a part does: v[0].assign(value).

truth value of an array
Ask for all or for any of its elements, tf.reduce_all(x > 0), or choose for each of them: tf.where(x > 0, a, b).

only 0-dimensional arrays
Only a single number becomes one of Python's: take one, x[0], or compute with functions of tf.

Tensor\(\) takes no arguments
Make a tensor by tf.constant(value).

GradientTape.*argument.*'sources'
A gradient is of something with respect to something: tape.gradient(y, x).

GradientTape.*argument 'persistant'
It is spelled persistent=True.

argument '(dim|keepdim|lr|requires_grad)'
These arguments are called axis, keepdims, learning_rate, and trainable of a tf.Variable.

object has no attribute '(shape|dtype|differentiable)'
A tape knows tensors and variables: pass them as they are, without .numpy(), float() or NumPy functions in between.

unsupported type .*ResourceVariable
Several variables become one tensor by tf.stack([x, y]).

convert a value \(None\)
None is here in place of a value: does a function end without return, or did a gradient find no path?

slice scalar|[Ss]calar tensor
A single number has no parts: leave out [0], len() and the loop.

unconnected_gradients
Write unconnected_gradients="zero", or leave it out for None.

^'type' object .* context manager
Brackets are missing after the class: with tf.GradientTape() as tape.

'DType' object is not callable
Make a tensor of a dtype by tf.constant(3, tf.float32), and another of a tensor by tf.cast(x, tf.float32).

__round__
Round a number of Python's: round(float(x), 2).
"""
)
