"""Suggest minitape's counterparts for names from PyTorch, NumPy and Keras."""

from collections.abc import Collection
from difflib import get_close_matches

from .notebook import find_ipython_shell

# Each line holds a name from another library and the code to write in minitape instead.
REPLACEMENTS = dict(
    line.split(" | ")
    for line in """\
all | tf.reduce_all(x)
any | tf.reduce_any(x)
arange | tf.range(n)
array | tf.constant(value)
as_tensor | tf.constant(value)
asarray | tf.constant(value)
assign | x.assign(value), with x = tf.Variable(value)
assign_add | x.assign_add(value), with x = tf.Variable(value)
assign_sub | x.assign_sub(value), with x = tf.Variable(value)
astype | tf.cast(x, tf.float32)
backward | tape.gradient(y, x)
cat | tf.concat([x, y], 0)
clamp | tf.clip_by_value(x, low, high)
clip | tf.clip_by_value(x, low, high)
clone | tf.identity(x)
compile | a loop: with tf.GradientTape() as tape: loss = ..., then \
optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
copy | tf.identity(x)
cpu | x.numpy()
cross_entropy | tf.nn.softmax_cross_entropy_with_logits(labels, logits)
data | x.numpy(), or x[i:j] for a batch
det | tf.linalg.det(x)
detach | tf.stop_gradient(x)
diag | tf.linalg.diag(x)
dim | x.ndim
div | x / y
dot | tf.tensordot(x, y, 1)
double | tf.float64
draw | tf.draw(tape), as the last line of a cell, or tf.draw(tape).save("tape.svg")
fit | a loop: with tf.GradientTape() as tape: loss = ..., then \
optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
flatten | tf.reshape(x, [-1])
float | tf.float32
from_numpy | tf.constant(value)
grad | tape.gradient(y, x)
gradient | tape.gradient(y, x)
gradients | tape.gradient(y, x)
hessian | tape.jacobian(slope, x), with slope = inner.gradient(y, x) inside the tape's block
int | tf.int32
inv | tf.linalg.inv(x)
inverse | tf.linalg.inv(x)
item | float(x)
layers | tf.keras.layers
Linear | tf.keras.layers.Dense(units)
ln | tf.math.log(x)
log | tf.math.log(x)
losses | tf.keras.losses
mae | tf.keras.losses.MAE(y, p)
manual_seed | tf.random.set_seed(1)
matmul | x @ y
max | tf.reduce_max(x)
mean | tf.reduce_mean(x)
min | tf.reduce_min(x)
minimize | optimizer.apply_gradients(zip(gradients, variables))
mm | x @ y
Model | tf.keras.Sequential(layers), or your own tf.Module
mse | tf.keras.losses.MSE(y, p)
mse_loss | tf.keras.losses.MSE(y, p)
mul | x * y
no_grad | tape.stop_recording()
nonzero | tf.where(x)
numel | tf.size(x)
optimizers | tf.keras.optimizers
Parameter | tf.Variable(value)
parameters | model.trainable_variables
permute | tf.transpose(x, perm)
plot | tf.draw(tape), as the last line of a cell, or tf.draw(tape).save("tape.svg")
pow | x ** y
power | x ** y
predict | model(x)
rand | tf.random.uniform(shape)
randn | tf.random.normal(shape)
random_normal | tf.random.normal(shape)
random_uniform | tf.random.uniform(shape)
ravel | tf.reshape(x, [-1])
record | with tf.GradientTape() as tape: y = ...
reduce_std | tf.math.reduce_std(x)
reduce_variance | tf.math.reduce_variance(x)
relu | tf.nn.relu(x)
repeat | tf.repeat(x, times)
requires_grad | x = tf.Variable(value), or tape.watch(x) in the block
requires_grad_ | x = tf.Variable(value), or tape.watch(x) in the block
reshape | tf.reshape(x, shape)
RMSprop | tf.keras.optimizers.SGD or Adam
set | x.assign(value), with x = tf.Variable(value)
set_random_seed | tf.random.set_seed(1)
show | tf.draw(tape), as the last line of a cell, or tf.draw(tape).save("tape.svg")
softmax | tf.nn.softmax(x)
start | with tf.GradientTape() as tape: y = ...
std | tf.math.reduce_std(x)
step | optimizer.apply_gradients(zip(gradients, variables))
sub | x - y
sum | tf.reduce_sum(x)
summary | model.trainable_variables
T | tf.transpose(x)
t | tf.transpose(x)
tensor | tf.constant(value)
tolist | x.numpy().tolist()
trace | tf.linalg.trace(x)
unsqueeze | tf.expand_dims(x, 0)
var | tf.math.reduce_variance(x)
view | tf.reshape(x, shape)
zero_grad | with tf.GradientTape() as tape: ..., a new tape for each step""".split("\n")
)


def suggest_replacement(
    missing_name: str, known_names: Collection[str], tf_functions: Collection[str] = (), suggestion_prefix: str = ""
) -> str:
    """Return a sentence that suggests a replacement for a missing name.

    The suggestion is the counterpart of a name from another library or, failing that, a function in ``tf`` with the
    missing name. Notebooks do not show Python's own suggestions, so in a notebook the most similar known name may also
    be suggested.

    Args:
        missing_name: The name that does not exist.
        known_names: The names that the object or module has.
        tf_functions: The names of functions in ``tf``, if the program could have meant one of them.
        suggestion_prefix: The text to put before the most similar name, such as "tf.".

    Returns:
        The translated sentence, or "" without a suggestion.

    >>> suggest_replacement("sum", []), suggest_replacement("exp", [], tf_functions=["exp"])
    ('Use tf.reduce_sum(x) instead.', 'Use tf.exp(x) instead.')
    """
    from .translation import say

    code = REPLACEMENTS.get(missing_name)
    if code is None and missing_name in tf_functions:
        code = f"tf.{missing_name}(x)"
    if code:
        return say("Use {code} instead.", "explain", code=code)
    if not find_ipython_shell():
        return ""
    nearest = list_closest_name_if_any(missing_name, known_names)
    return say("Did you mean {near}?", "explain", near=suggestion_prefix + nearest[0]) if nearest else ""


def list_closest_name_if_any(missing_name: str, known_names: Collection[str]) -> list[str]:
    """Return the known name that a missing name may be a misspelling of, in a list that is empty if there is none.

    Args:
        missing_name: The name that does not exist.
        known_names: The names that the object or module has.

    >>> list_closest_name_if_any("matmull", ["matmul", "sign"]), list_closest_name_if_any("signal", ["matmul", "sign"])
    (['matmul'], [])
    """
    return get_close_matches(missing_name, known_names, 1, 0.85)


def build_attribute_error(
    text: str, missing_name: str, owner: object, known_names: Collection[str] = (), suggestion_prefix: str = ""
) -> AttributeError:
    """Build an AttributeError with a note that suggests what to write instead.

    Args:
        text: The error message.
        missing_name: The name that does not exist.
        owner: The object that does not have the name.
        known_names: The names that the object or module has.
        suggestion_prefix: The text to put before the most similar name, such as "tf.".

    Returns:
        The error, for the caller to raise.

    >>> build_attribute_error("There is no tf.sum.", "sum", None).__notes__
    ['Use tf.reduce_sum(x) instead.']
    """
    error = AttributeError(text, name=missing_name, obj=owner)
    if note := suggest_replacement(missing_name, known_names, (), suggestion_prefix):
        error.add_note(note)
    return error
