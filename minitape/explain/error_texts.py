"""Parse a table that contains patterns of error messages and the advice to show for each of them."""

from ..engine.types import TextsByName

MISSING_NAME = "If a cell above makes this name, run that cell first: menu Run, Run All Above Selected Cell."


def parse_advice_by_pattern(table: str) -> TextsByName:
    r"""Parse a table of advice.

    Args:
        table: Paragraphs, separated by empty lines. The first line of each paragraph is a pattern for error messages.
            The remaining lines are the advice.

    Returns:
        The advice, keyed by pattern.

    >>> parse_advice_by_pattern("^slice\nA number\nhas no parts.")
    {'^slice': 'A number has no parts.'}
    """
    paragraphs = (paragraph.partition("\n") for paragraph in table.strip().split("\n\n"))
    return {pattern: sentences.replace("\n", " ") for pattern, _, sentences in paragraphs}


ADVICE = parse_advice_by_pattern(
    r"""
^Cannot convert .* of dtype u?int
The other operand contains integers. Write its value with a decimal point, as in tf.Variable(3.0), or cast it to a float
dtype: tf.cast(x, tf.float32).

was expected to be a \w+ tensor but is|of the same dtype, got
Both operands must have the same dtype. Cast one of them: tf.cast(x, tf.float32). NumPy's
floats are float64 by default. To get a float32 tensor, write tf.constant(array, tf.float32).

not u?int\d+\. Convert the input
Write the numbers of the tensor with a decimal point (3.0 instead of 3), or cast the tensor: tf.cast(x, tf.float32).

^concat_dim
Pass the tensors as a list, before the axis: tf.concat([a, b], 0).

^Incompatible shapes
Compare the shapes from the last axis backwards. Two sizes are compatible if they are equal or one of them is 1.

at least two axes, got the shapes
@ and tf.matmul multiply matrices. For a matrix and a vector, use tf.linalg.matvec(matrix, vector), or turn the vector
into a column with tf.expand_dims(vector, 1). Both functions also accept a list.

`type_value`
This argument must be a dtype, such as tf.float32. Pass the sizes of a shape as one list: tf.zeros([2, 3]).

to ResourceVariable.__format__
Format the value of the variable: x.numpy().

to numpy.ndarray.__format__
Only a single number can be formatted. Select one with x[0], or print the tensor without a format.

item assignment
A tensor cannot be changed. Create a variable, v = tf.Variable(x), and assign to one of its elements:
v[0].assign(value).

truth value of an array
Combine the truth values of the elements, as in tf.reduce_all(x > 0), or choose for each element: tf.where(x > 0, a, b).

only 0-dimensional arrays
Only a single number can be converted to a Python number. Select one with x[0], or compute with tf functions.

Tensor\(\) takes no arguments
Create a tensor with tf.constant(value).

GradientTape.*argument.*'sources'
A gradient needs a target and a source: tape.gradient(y, x).

GradientTape.*argument 'persistant'
The argument is spelled persistent=True.

argument '(dim|keepdim|lr|requires_grad)'
These arguments are called axis, keepdims, learning_rate and, for tf.Variable, trainable.

object has no attribute '(shape|dtype|differentiable)'
A tape works only with tensors and variables. Pass them directly, without .numpy(), float() or NumPy functions in
between.

unsupported type .*ResourceVariable
Combine several variables into one tensor with tf.stack([x, y]).

convert a value \(None\)
A value is None here. Does a function end without a return statement, or is a gradient None because no path exists?

slice scalar|[Ss]calar tensor
A single number has no elements. Remove [0], len() or the loop.

unconnected_gradients
Write unconnected_gradients="zero", or leave it out to get None.

^'type' object .* context manager
The parentheses after the class are missing: with tf.GradientTape() as tape.

'DType' object is not callable
To create a tensor with a given dtype, write tf.constant(3, tf.float32). To convert an existing tensor, write tf.cast(x,
tf.float32).

__round__
Round a Python number instead: round(float(x), 2).
"""
)
