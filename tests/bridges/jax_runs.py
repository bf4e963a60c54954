"""JAX programs whose mistakes show in the run: in the loss, in a compiled function or on the way to the parameters.

:mod:`torch_cases` describes the format. The shared first lines are in :mod:`test_program_runs`.
"""

CASES = """
#@ a_compiled_function_keeps_a_global_of_its_first_call stale_value
weights = jnp.arange(1.0, 4.0)
@jax.jit
def step(change):  #- def step(change, weights):
    def loss(change):
        return jnp.mean((weights + change) ** 2)  #!
    return jax.grad(loss)(change)
for _ in range(4):
    weights = weights - 0.5 * step(jnp.zeros(3))  #- weights = weights - 0.5 * step(jnp.zeros(3), weights)
#@ the_loss_is_nan_though_its_gradients_are_finite nonfinite_value
def loss(w, size):
    penalty = jnp.log(size)  #!  #- penalty = jnp.log(size + 9.0)
    return jnp.mean((w - 1.5) ** 2) + penalty
print(jax.jit(jax.value_and_grad(loss))(jnp.arange(3.0), -1.0))
#@ an_array_in_a_static_field not_trainable
import dataclasses
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Bump:
    centre: jax.Array
    width: jax.Array = dataclasses.field(metadata={"static": True})  #!  #- width: jax.Array
def loss(bump):
    return jnp.sum(((0.5 - bump.centre) / bump.width) ** 2)
for _ in range(3):
    jax.grad(loss)(Bump(jnp.ones(3), jnp.array(2.0)))
#@ half_precision_underflows zero_factor
def loss(w):
    h = (w * 3.0).astype(jnp.float16)  #- h = w * 3.0
    return jnp.mean(h) * 1e-5  #!
for _ in range(2):
    print(jax.grad(loss)(jnp.ones(4096)))
#@ a_mean_in_half_precision_underflows zero_factor
def loss(w):
    h = (w * 3.0).astype(jnp.float16)  #- h = w * 3.0
    return jnp.mean((h - 1.0) ** 2) * 1e-5  #!
for _ in range(2):
    print(jax.grad(loss)(jnp.ones(4096)))
#@ the_step_changes_nothing not_applied
def loss(w):
    return jnp.sum((w - 1.0) ** 2)
w = jnp.zeros(3)
print(loss(w))
for step in range(5):
    w = w - 0.0 * jax.grad(loss)(w)  #!  #- w = w - 0.1 * jax.grad(loss)(w)
#@ the_gradient_is_added_to_each_parameter wrong_sign
params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
x = jax.random.normal(jax.random.key(0), (8, 3))
def mse(p, x):
    return jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2)
@jax.jit
def update(params, x):
    g = jax.grad(mse)(params, x)
    return {k: params[k] + 0.1 * g[k] for k in params}  #!  #- return {k: params[k] - 0.1 * g[k] for k in params}
for _ in range(8):
    params = update(params, x)
#@ the_gradient_of_the_data_updates_the_weights argnums
def loss(x, w):
    return (jnp.dot(x, w) - 3.0) ** 2
w, slope = jnp.ones(3), jax.jit(jax.grad(loss))  #!  #- w, slope = jnp.ones(3), jax.jit(jax.grad(loss, argnums=1))
for x in jax.random.normal(jax.random.key(0), (6, 3)):
    w = w - 0.05 * slope(x, w)
#@ each_argument_has_its_own_gradient connected
x, y = jnp.linspace(0.0, 1.0, 9), jnp.linspace(1.0, 3.0, 9)
def loss(slope, shift):
    return jnp.mean((slope * x + shift - y) ** 2)
to_slope, to_shift = jax.jit(jax.grad(loss)), jax.jit(jax.grad(loss, argnums=1))
slope, shift = 0.5, 0.0
for _ in range(6):
    first, second = to_slope(slope, shift), to_shift(slope, shift)
    slope, shift = slope - 0.3 * first, shift - 0.3 * second
#@ an_input_moves_beside_the_weights connected
def loss(x, w):
    return jnp.sum((x * w - 3.0) ** 2)
x, w = jnp.ones(3), jnp.full(3, 2.0)
for _ in range(6):
    x = x - 0.05 * jax.grad(loss)(x, w)
    w = 0.9 * w + 0.1 * x
#@ an_auxiliary_result_updates_the_other_argument connected
def loss(a, b):
    out = jnp.tanh(a * b)
    return jnp.sum((out - 0.5) ** 2), out
def other(b, out):
    return jnp.sum((b * out - 2.0) ** 2)
a, b = jnp.full(3, 0.5), jnp.full(3, 2.0)
for _ in range(4):
    (value, out), slope = jax.value_and_grad(loss, has_aux=True)(a, b)
    a = a - 0.1 * slope
    b = b - 0.1 * jax.grad(other)(b, out)
#@ an_auxiliary_result_beside_the_gradient_updates_the_other_argument connected
def loss(a, b):
    return jnp.sum((jnp.tanh(a * b) - 0.5) ** 2), jnp.tanh(a * b)
a, b = jnp.full(3, 0.5), jnp.full(3, 2.0)
for _ in range(4):
    slope, out = jax.grad(loss, has_aux=True)(a, b)
    a = a - 0.1 * slope
    b = 0.9 * b + 0.1 * out
#@ a_static_self_keeps_a_number stale_value
import functools
class Trainer:
    def __init__(self):
        self.weight = 0.0
    def loss(self, w, weight):
        pull = jnp.sum(w**2)
        return jnp.sum((w - 3.0) ** 2) + self.weight * pull  #!  #- return jnp.sum((w - 3.0) ** 2) + weight * pull
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, w, weight):
        return w - 0.1 * jax.grad(self.loss)(w, weight)
trainer, w = Trainer(), jnp.ones(3)
for number in range(9):
    trainer.weight = float(number == 8)
    w = trainer.step(w, trainer.weight)
#@ a_compiled_method_keeps_a_number_of_its_object stale_value
class Annealer:
    def __init__(self):
        self.weight, self.step = 0.0, jax.jit(self.descend)
    def loss(self, w, weight):
        return jnp.sum((w - 3.0) ** 2) + self.weight * jnp.sum(w**2)  #!  #- return jnp.sum((w - 3.0) ** 2) + weight * 3
    def descend(self, w, weight):
        return w - 0.1 * jax.grad(self.loss)(w, weight)
trainer, w = Annealer(), jnp.ones(3)
for number in range(9):
    trainer.weight = number / 8
    w = trainer.step(w, trainer.weight)
#@ a_compiled_method_reads_only_the_keys_of_its_object connected
class Fit:
    def __init__(self):
        self.params, self.step = {"b": jnp.zeros(3), "w": jnp.ones(3)}, jax.jit(self.descend)
    def descend(self, params):
        gradient = jax.grad(lambda params: jnp.sum((params["w"] + params["b"] - 3.0) ** 2))(params)
        return {name: params[name] - 0.1 * gradient[name] for name in self.params}
fit = Fit()
for _ in range(9):
    fit.params = fit.step(fit.params)
#@ noise_is_drawn_while_the_step_is_traced stale_value
import numpy as np
@jax.jit
def step(w):  #- def step(w, noise):
    noise = np.random.normal(size=3)  #!  #- pass
    return w - 0.1 * jax.grad(lambda w: jnp.sum((w + noise - 3.0) ** 2))(w)
w = jnp.ones(3)
for _ in range(8):
    w = step(w)  #- w = step(w, np.random.normal(size=3))
#@ a_key_of_a_random_number_is_traced stale_value
import random
def blur(w):  #- def blur(w, seed):
    key = jax.random.key(random.randrange(99))  #!  #- key = jax.random.key(seed)
    return w + jax.random.normal(key, w.shape)
def loss(w, *seed):
    return jnp.sum((blur(w, *seed) - 3.0) ** 2)
step = jax.jit(lambda *values: values[0] - 0.1 * jax.grad(loss)(*values))
w = jnp.ones(3)
for _ in range(8):
    w = step(w)  #- w = step(w, random.randrange(99))
#@ numpy_draws_outside_of_the_compiled_step connected
import numpy as np
rng, scale = np.random.default_rng(0), None
@jax.jit
def step(w, noise):
    global scale
    if scale is None:
        scale = float(rng.uniform(1.0, 2.0))
    noise = noise + jax.pure_callback(lambda: rng.normal(), jax.ShapeDtypeStruct((), jnp.float32))
    return w - 0.1 * jax.grad(lambda w: jnp.sum((w * scale + noise - 3.0) ** 2))(w)
w = jnp.ones(3)
for _ in range(8):
    w = step(w, rng.normal(size=3))
#@ what_a_static_self_never_reads_may_change connected
import functools
class Trainer:
    def __init__(self):
        self.w, self.steps, self.rate = jnp.ones(3), 0, 0.1
    @functools.partial(jax.jit, static_argnums=0)
    def update(self, w):
        return w - self.rate * jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w)
    def step(self):
        self.w, self.steps = self.update(self.w), self.steps + 1
trainer = Trainer()
for _ in range(9):
    trainer.step()
#@ the_attributes_of_a_traced_argument_may_change connected
import dataclasses
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: jax.Array
    rate: float
@jax.jit
def step(state):
    gradient = jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(state.w)
    return State(state.w - state.rate * gradient, state.rate * 0.9)
state = State(jnp.ones(3), 0.1)
for _ in range(9):
    state = step(state)
#@ a_list_keeps_values_of_a_trace leaked_tracer
w, norms = jnp.arange(3.0), []
@jax.jit
def step(w):
    gradient = jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w)
    norms.append(jnp.sum(gradient**2))  #!  #- jax.debug.callback(norms.append, jnp.sum(gradient**2))
    return w - 0.1 * gradient
for _ in range(3):
    w = step(w)
jax.effects_barrier()
print(sum(norms))
#@ a_donated_array_is_used_again refused
import functools
@functools.partial(jax.jit, donate_argnums=0)
def step(w):
    return w - 0.1 * jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w)
start = jnp.arange(3.0)
w = step(start)  #- w = step(jnp.copy(start))
for _ in range(3):
    w = step(w)
print(jnp.sum(w - start))  #!
#@ an_array_among_nondiff_argnums leaked_tracer
import functools
@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))  #!  #- @jax.custom_jvp
def gated(x, mask):
    return x * mask
@gated.defjvp
def gated_jvp(mask, primals, tangents):  #- def gated_jvp(primals, tangents):
    return gated(*primals, mask), tangents[0] * mask  #- return gated(*primals), tangents[0] * primals[1]
def loss(w, mask):
    def body(carry, _):
        h, m = carry
        return (gated(h, m) + w, m), None
    (h, _), _ = jax.lax.scan(body, (w, mask), None, length=3)
    return (h ** 2).sum()
jax.grad(loss)(jnp.ones(2), jnp.ones(2))
#@ a_loss_becomes_nan_after_the_recorded_calls nan_backward
def loss(w, x):
    squares = jnp.sum((w * x) ** 2, axis=1)  #- squares = jnp.sum((w * x) ** 2, axis=1) + 1e-9
    return jnp.mean(jnp.sqrt(squares))  #!
@jax.jit
def step(w, x):
    value, gradient = jax.value_and_grad(loss)(w, x)
    return w - 0.01 * gradient, value
w = jnp.ones(3)
for number in range(14):
    w, value = step(w, jnp.ones((4, 3)) * (number != 11))
#@ a_gradient_becomes_nan_without_a_compiler nan_backward
def loss(w, x):
    squares = jnp.sum((w * x) ** 2, axis=1)  #- squares = jnp.sum((w * x) ** 2, axis=1) + 1e-9
    return jnp.mean(jnp.sqrt(squares))  #!
w = jnp.ones(3)
for number in range(9):
    w = w - 0.01 * jax.grad(loss)(w, jnp.ones((4, 3)) * (number != 7))
#@ several_gradients_of_the_same_array connected
def loss(w):
    return jnp.sum((w - 1.0) ** 2)
w = jnp.zeros(3)
for step in range(5):
    unused = w - 0.1 * jax.grad(loss)(w)
#@ an_example_under_vmap_has_a_nan_gradient nan_backward
def length(x, scale):
    return scale * jnp.sqrt(jnp.sum(x ** 2))  #!  #- return scale * jnp.sqrt(jnp.sum(x ** 2) + 1e-9)
points = jnp.ones((4, 3)).at[2].set(0.0)
print(jax.vmap(jax.grad(length), in_axes=(0, None))(points, 2.0))
#@ an_example_under_vmap_and_jit_has_a_nan_gradient nan_backward
def length(x, scale):
    return scale * jnp.sqrt(jnp.sum(x ** 2))  #!  #- return scale * jnp.sqrt(jnp.sum(x ** 2) + 1e-9)
points = jnp.ones((4, 3)).at[2].set(0.0)
print(jax.jit(jax.vmap(jax.value_and_grad(length), in_axes=(0, None)))(points, 2.0))
#@ a_row_of_a_jacobian_is_nan nan_backward
def length(x):
    return jnp.sqrt(jnp.sum(x ** 2))  #!  #- return jnp.sqrt(jnp.sum(x ** 2) + 1e-9)
points = jnp.ones((4, 3)).at[2].set(0.0)
print(jax.jacrev(lambda points: jax.vmap(length)(points))(points))
#@ a_hessian_is_infinite_on_the_way nan_forward
def length(x):
    return jnp.sqrt(jnp.sum(x ** 2))  #!  #- return jnp.sqrt(jnp.sum(x ** 2) + 1e-9)
point = jnp.zeros(3)
print(jax.hessian(lambda x: length(x))(point))
#@ one_term_of_a_straight_through_loss_is_differentiated_by_itself connected
def terms(p, x):
    z = x @ p["encoder"]
    nearest = p["codes"][jnp.argmin(jnp.abs(z[:, None] - p["codes"]), axis=1)]
    passed = z + jax.lax.stop_gradient(nearest - z)
    return jnp.mean((passed - x[:, 0]) ** 2), jnp.mean((nearest - jax.lax.stop_gradient(z)) ** 2)
p, x = {"encoder": jnp.ones(2), "codes": jnp.linspace(0.5, 3.0, 4)}, jnp.arange(12.0).reshape(6, 2) / 6.0
for _ in range(4):
    gradient = jax.grad(lambda p: sum(terms(p, x)))(p)
    p = jax.tree.map(lambda value, change: value - 0.1 * change, p, gradient)
    print(jax.grad(lambda q: terms(q, x)[0])(p)["encoder"])
#@ no_term_trains_the_codes stop_gradient
def terms(p, x):
    z = x @ p["encoder"]
    nearest = p["codes"][jnp.argmin(jnp.abs(z[:, None] - p["codes"]), axis=1)]
    passed = z + jax.lax.stop_gradient(nearest - z)  #!  #- passed = nearest
    return jnp.mean((passed - x[:, 0]) ** 2) + jnp.mean(z**2)
p, x = {"encoder": jnp.ones(2), "codes": jnp.linspace(0.5, 3.0, 4)}, jnp.arange(12.0).reshape(6, 2) / 6.0
for _ in range(4):
    gradient = jax.grad(terms)(p, x)
    p = jax.tree.map(lambda value, change: value - 0.1 * change, p, gradient)
#@ an_average_comes_before_the_parameters swapped_average
import optax
w, tx = jnp.ones(3), optax.sgd(0.1)
slow, state = w, tx.init(w)
@jax.jit
def step(w, slow, state):
    gradient = jax.grad(lambda w: jnp.sum((w - 3.0) ** 2) + jnp.sum((w - slow) ** 2))(w)
    updates, state = tx.update(gradient, state)
    w = optax.apply_updates(w, updates)
    slow = optax.incremental_update(slow, w, 0.01)  #!  #- slow = optax.incremental_update(w, slow, 0.01)
    return w, slow, state
for _ in range(8):
    w, slow, state = step(w, slow, state)
#@ an_average_gets_a_longer_name swapped_average
import optax
w, tx = jnp.ones(3), optax.sgd(0.1)
slow, state = w, tx.init(w)
@jax.jit
def step(w, slow, state):
    gradient = jax.grad(lambda w: jnp.sum((w - 3.0 + slow) ** 2))(w)
    updates, state = tx.update(gradient, state)
    w = optax.apply_updates(w, updates)
    new_slow = optax.incremental_update(slow, w, 0.1)  #!  #- new_slow = optax.incremental_update(w, slow, 0.1)
    return w, new_slow, state
for _ in range(8):
    w, slow, state = step(w, slow, state)
#@ a_state_is_not_kept state_not_kept
import optax
w, adam = jnp.ones(3), optax.adam(0.1)
state = adam.init(w)
@jax.jit
def step(w, state):
    gradient = jax.grad(lambda w: jnp.mean((w - 3.0) ** 2))(w)
    updates, state = adam.update(gradient, state)
    return optax.apply_updates(w, updates), state
for _ in range(5):
    w, unused = step(w, state)  #!  #- w, state = step(w, state)
#@ the_new_parameters_get_another_name not_applied
import optax
w, adam = jnp.ones(3), optax.adam(0.1)
state = adam.init(w)
@jax.jit
def step(w, state):
    gradient = jax.grad(lambda w: jnp.mean((w - 3.0) ** 2))(w)
    updates, state = adam.update(gradient, state)
    w = optax.apply_updates(w, updates)
    return w, state
for _ in range(5):
    new, state = step(w, state)  #!  #- w, state = step(w, state)
#@ the_same_key_is_passed_to_each_step state_not_kept
def loss(w, x, key):
    hidden = jnp.tanh(x * w)
    kept = jax.random.bernoulli(key, 0.5, hidden.shape)
    return jnp.mean((jnp.where(kept, 2.0 * hidden, 0.0) - 3.0) ** 2)
@jax.jit
def step(w, x, key):
    return w - 0.1 * jax.grad(loss)(w, x, key)
w, key = jnp.ones(4), jax.random.key(0)
for _ in range(6):
    key, subkey = jax.random.split(key)
    w = step(w, jnp.arange(1.0, 5.0), jax.random.key(1))  #!  #- w = step(w, jnp.arange(1.0, 5.0), subkey)
#@ a_key_is_created_again_for_each_gradient state_not_kept
def loss(w, key):
    noise = jax.random.normal(key, w.shape)
    return jnp.mean((w + noise - 3.0) ** 2)
w, key = jnp.ones(4), jax.random.PRNGKey(0)
for number in range(6):
    key = jax.random.PRNGKey(0)  #!  #- key = jax.random.fold_in(key, number)
    w = w - 0.1 * jax.grad(loss)(w, key)
#@ features_and_points_are_the_same_on_purpose connected
def loss(w, x):
    directions = jax.random.normal(jax.random.key(7), (3, 16))
    return jnp.mean((jnp.cos(x @ directions) @ w - 3.0) ** 2)
w, x, test_key = jnp.ones(16), jnp.eye(3), jax.random.key(1)
for _ in range(6):
    w = w - 0.01 * jax.grad(loss)(w, x)
    print(loss(w, jax.random.uniform(test_key, (5, 3))))
#@ the_labels_come_before_the_logits loss_input
import optax
labels, x = jnp.eye(3)[jnp.array([0, 2, 1, 1])], jax.random.normal(jax.random.key(0), (4, 2))
def loss(w):
    logits = x @ w
    first = optax.softmax_cross_entropy(labels, logits)  #!  #- first = optax.softmax_cross_entropy(logits, labels)
    return first.mean() + optax.sigmoid_binary_cross_entropy(logits, labels).mean()
w = jax.random.normal(jax.random.key(1), (2, 3))
for _ in range(4):
    w = w - 0.1 * jax.jit(jax.grad(loss))(w)
"""

OPTAX_CASES = """
#@ a_long_warm_up_changes_nothing_at_first connected
import optax
w, optimizer = jnp.full(3, 7.0), optax.sgd(0.1)
state = optimizer.init(w)
for step in range(99):
    updates, state = optimizer.update(jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w), state)
    w = optax.apply_updates(w, updates * (step > 50))
#@ a_rate_is_zero_to_the_end not_applied
import optax
w, optimizer = jnp.full(3, 7.0), optax.sgd(0.0)  #- w, optimizer = jnp.full(3, 7.0), optax.sgd(0.1)
state = optimizer.init(w)
for step in range(99):
    updates, state = optimizer.update(jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w), state)
    w = optax.apply_updates(w, updates)  #!
#@ several_steps_collect_gradients_for_one_update connected
import optax
def loss(p, x):
    return jnp.mean((x * p["w"] + p["b"] - 3.0) ** 2)
optimizer = optax.MultiSteps(optax.adam(0.1), every_k_schedule=8)
p = {"w": jnp.ones(3), "b": jnp.zeros(())}
state = optimizer.init(p)
@jax.jit
def step(p, state, x):
    updates, state = optimizer.update(jax.grad(loss)(p, x), state, p)
    return optax.apply_updates(p, updates), state
for number in range(16):
    p, state = step(p, state, jnp.arange(3.0) + number % 2)
#@ all_arguments_are_passed_by_keyword connected
import optax
def loss(w, x):
    return jnp.mean((x * w - 3.0) ** 2)
optimizer = optax.adam(learning_rate=0.1)
w = jnp.ones(3)
state = optimizer.init(params=w)
value_and_grad = jax.value_and_grad(fun=loss, argnums=0)
for number in range(4):
    value, gradient = value_and_grad(w, x=jnp.arange(3.0) + number % 2)
    updates, state = optimizer.update(updates=gradient, state=state, params=w)
    w = optax.apply_updates(params=w, updates=updates)
hessian = jax.hessian(fun=loss)(w, jnp.ones(3))
by_example = jax.vmap(fun=jax.grad(loss), in_axes=(None, 0))(w, jnp.ones((2, 3)))
#@ one_of_two_options_is_passed_by_keyword connected
def loss(w, x):
    predictions = x @ w
    return jnp.mean((predictions - 1.0) ** 2), predictions
w = jnp.ones(3)
for number in range(4):
    (value, predictions), gradient = jax.value_and_grad(loss, has_aux=True)(w, jnp.full((2, 3), 1.0 + number))
    w = w - 0.01 * gradient
#@ a_transformation_of_a_chain_collects_gradients connected
import optax
def loss(w, x):
    return jnp.mean((x * w - 3.0) ** 2)
optimizer = optax.chain(optax.clip(1.0), optax.MultiSteps(optax.adam(0.1), 6).gradient_transformation())
w = jnp.ones(3)
state = optimizer.init(w)
for number in range(12):
    updates, state = optimizer.update(jax.grad(loss)(w, jnp.arange(3.0) + number % 2), state, w)
    w = optax.apply_updates(w, updates)
#@ a_mask_passes_gradients_on not_applied
import optax
def loss(p):
    return jnp.sum((p["a"] * p["b"] - 3.0) ** 2)
optimizer = optax.masked(optax.sgd(0.01), {"a": True, "b": False})  #!  #- optimizer = optax.sgd(0.01)
p = {"a": jnp.ones(3), "b": jnp.ones(3)}
state = optimizer.init(p)
@jax.jit
def step(p, state):
    updates, state = optimizer.update(jax.grad(loss)(p), state)
    return optax.apply_updates(p, updates), state
for _ in range(4):
    p, state = step(p, state)
#@ weight_decay_without_parameters refused
import optax
w, optimizer = jnp.ones(3), optax.adamw(0.1)
state = optimizer.init(w)
for _ in range(3):
    gradient = jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w)
    updates, state = optimizer.update(gradient, state)  #!  #- updates, state = optimizer.update(gradient, state, w)
    w = optax.apply_updates(w, updates)
#@ the_state_belongs_to_other_parameters refused
import optax
p, optimizer = {"w": jnp.ones(3), "b": jnp.zeros(())}, optax.adam(0.1)
state = optimizer.init(p["w"])  #- state = optimizer.init(p)
for _ in range(3):
    gradient = jax.grad(lambda p: jnp.sum((p["w"] + p["b"] - 3.0) ** 2))(p)
    updates, state = optimizer.update(gradient, state)  #!
    p = optax.apply_updates(p, updates)
#@ a_state_is_created_in_each_step state_not_kept
import optax
w, momentum = jnp.ones(3), optax.sgd(0.1, momentum=0.9)
state = momentum.init(w)
for _ in range(5):
    state = momentum.init(w)  #!  #- pass
    gradient = jax.grad(lambda w: jnp.mean((w - 3.0) ** 2))(w)
    updates, state = momentum.update(gradient, state)
    w = optax.apply_updates(w, updates)
#@ plain_descent_has_no_state connected
import optax
w, descent = jnp.ones(3), optax.sgd(0.1)
state = descent.init(w)
for _ in range(5):
    updates, _ = descent.update(jax.grad(lambda w: jnp.mean((w - 3.0) ** 2))(w), state)
    w = optax.apply_updates(w, updates)
#@ a_schedule_counts_updates_instead_of_epochs not_applied
import optax
epochs, count = 4, 8
schedule = optax.cosine_decay_schedule(0.1, epochs)  #!  #- schedule = optax.cosine_decay_schedule(0.1, epochs * count)
w, tx = jnp.ones(3), optax.adam(schedule)
state = tx.init(w)
@jax.jit
def step(w, state):
    updates, state = tx.update(jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w), state)
    return optax.apply_updates(w, updates), state
for _ in range(epochs * count):
    w, state = step(w, state)
#@ a_long_warmup_and_a_cosine_of_the_whole_run connected
import optax
w, tx = jnp.ones(3), optax.adam(optax.warmup_cosine_decay_schedule(0.0, 0.1, warmup_steps=20, decay_steps=32))
state = tx.init(w)
@jax.jit
def step(w, state):
    updates, state = tx.update(jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w), state)
    return optax.apply_updates(w, updates), state
for _ in range(32):
    w, state = step(w, state)
#@ one_of_two_schedules_is_shorter connected
import optax
w, v = jnp.ones(3), jnp.ones(3)
first, second = (optax.sgd(optax.linear_schedule(0.1, 0.0, steps)) for steps in (12, 48))
w_state, v_state = first.init(w), second.init(v)
for number in range(48):
    w_gradient, v_gradient = jax.grad(lambda w, v: jnp.sum((w * v - 3.0) ** 2), (0, 1))(w, v)
    if number < 12:
        updates, w_state = first.update(w_gradient, w_state)
        w = optax.apply_updates(w, updates)
    updates, v_state = second.update(v_gradient, v_state)
    v = optax.apply_updates(v, updates)
#@ an_average_is_updated_after_the_compiled_step swapped_average
import optax
w, tx = {"w": jnp.ones(3)}, optax.sgd(0.1)
slow, state = w, tx.init(w)
@jax.jit
def step(w, slow, state):
    gradient = jax.grad(lambda w: jnp.sum((w["w"] - 3.0 + slow["w"]) ** 2))(w)
    updates, state = tx.update(gradient, state)
    return optax.apply_updates(w, updates), state
for _ in range(8):
    w, state = step(w, slow, state)
    slow = optax.incremental_update(slow, w, 0.01)  #!  #- slow = optax.incremental_update(w, slow, 0.01)
#@ an_average_is_replaced_in_a_state swapped_average
import optax
from types import SimpleNamespace as Agent
w, tx = jnp.ones(3), optax.sgd(0.1)
n, state = Agent(slow=w), tx.init(w)
for _ in range(8):
    updates, state = tx.update(jax.grad(lambda w: jnp.sum((w - 3.0 + n.slow) ** 2))(w), state)
    w = optax.apply_updates(w, updates)
    n = Agent(slow=optax.incremental_update(n.slow, w, 0.1))  #!  #- n.slow = optax.incremental_update(w, n.slow, 0.1)
#@ parameters_are_pulled_to_a_fixed_point connected
import optax
w, anchor, tx = jnp.ones(3), jnp.zeros(3), optax.sgd(0.1)
state = tx.init(w)
for _ in range(8):
    updates, state = tx.update(jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w), state)
    w = optax.apply_updates(w, updates)
    w = optax.incremental_update(anchor, w, 0.01)
#@ the_step_size_of_an_average_is_its_decay connected
import optax
w, tx = jnp.ones(3), optax.sgd(0.1)
slow, state = w, tx.init(w)
for _ in range(8):
    updates, state = tx.update(jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w), state)
    w = optax.apply_updates(w, updates)
    slow = optax.incremental_update(slow, w, 0.99)
#@ an_average_of_gradients connected
import optax
w, tx = jnp.ones(3), optax.sgd(0.1)
mean, state = jnp.zeros(3), tx.init(w)
for _ in range(8):
    gradient = jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w)
    gradient = optax.incremental_update(gradient, mean, 0.1)
    mean = gradient
    updates, state = tx.update(gradient, state)
    w = optax.apply_updates(w, updates)
#@ an_optimizer_freezes_on_purpose connected
import optax
params = {"base": jnp.ones(3), "head": jnp.ones(3)}
labels = {"base": "frozen", "head": "trained"}
tx = optax.multi_transform({"trained": optax.adam(0.1), "frozen": optax.set_to_zero()}, labels)
state = tx.init(params)
def loss(params):
    return jnp.mean((jnp.tanh(params["base"] * jnp.arange(1.0, 4.0)) * params["head"] - 3.0) ** 2)
@jax.jit
def step(params, state):
    updates, state = tx.update(jax.grad(loss)(params), state, params)
    new = optax.apply_updates(params, updates)
    return new, state
for _ in range(6):
    params, state = step(params, state)
#@ updates_are_below_the_spacing_of_bfloat16 not_applied
import optax
params = {"w": jax.random.normal(jax.random.key(1), (8, 4)), "scale": jnp.ones(4)}
params = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)  #-
x, tx = jax.random.normal(jax.random.key(0), (16, 8)), optax.adam(1e-3)
state = tx.init(params)
@jax.jit
def step(params, state):
    gradient = jax.grad(lambda p: jnp.mean((x @ p["w"] * p["scale"] - x.sum(1, keepdims=True)) ** 2))(params)
    updates, state = tx.update(gradient, state)
    return optax.apply_updates(params, updates), state  #!
for _ in range(10):
    params, state = step(params, state)
#@ updates_are_below_the_spacing_of_float16_without_a_compiler not_applied
import optax
w, x = jnp.full((3, 2), 700.0, jnp.float16), jnp.ones((4, 3), jnp.float16)  #- w, x = jnp.ones((3, 2)), jnp.ones((4, 3))
tx = optax.sgd(1e-2)
state = tx.init(w)
for _ in range(8):
    gradient = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ (w / 700)) ** 2))(w)
    updates, state = tx.update(gradient, state)
    w = optax.apply_updates(w, updates)  #!
#@ a_learning_rate_in_bfloat16_warms_up connected
import optax
w, x = jnp.ones(4, jnp.bfloat16), jax.random.normal(jax.random.key(0), (16, 4))
tx = optax.adam(optax.linear_schedule(0.0, 0.1, 40))
state = tx.init(w)
@jax.jit
def step(w, state):
    gradient = jax.grad(lambda w: jnp.mean((x @ w - 3.0) ** 2))(w)
    updates, state = tx.update(gradient, state)
    return optax.apply_updates(w, updates), state
for _ in range(40):
    w, state = step(w, state)
#@ a_part_in_bfloat16_is_frozen_on_purpose connected
import optax
params = {"base": jnp.ones(3, jnp.bfloat16), "head": jnp.ones(3, jnp.bfloat16)}
labels = {"base": "frozen", "head": "trained"}
tx = optax.multi_transform({"trained": optax.adam(0.1), "frozen": optax.set_to_zero()}, labels)
state = tx.init(params)
def loss(params):
    return jnp.mean((jnp.tanh(params["base"] * jnp.arange(1.0, 4.0)) * params["head"] - 3.0) ** 2)
@jax.jit
def step(params, state):
    updates, state = tx.update(jax.grad(loss)(params), state, params)
    return optax.apply_updates(params, updates), state
for _ in range(8):
    params, state = step(params, state)
#@ unused_rows_of_a_table_only_decay connected
import optax
table, words = jnp.ones((40, 3), jnp.bfloat16), jnp.array([1, 5, 7])
tx = optax.adamw(0.1, weight_decay=1e-5)
state = tx.init(table)
@jax.jit
def step(table, state):
    gradient = jax.grad(lambda table: jnp.mean((table[words] - 3.0) ** 2))(table)
    updates, state = tx.update(gradient, state, table)
    return optax.apply_updates(table, updates), state
for _ in range(8):
    table, state = step(table, state)
#@ the_step_returns_its_old_parameters not_applied
import optax
params = {"base": jnp.ones(3), "head": jnp.ones(3)}
tx = optax.adam(0.1)
state = tx.init(params)
def loss(params):
    return jnp.mean((jnp.tanh(params["base"] * jnp.arange(1.0, 4.0)) * params["head"] - 3.0) ** 2)
@jax.jit
def step(params, state):
    updates, state = tx.update(jax.grad(loss)(params), state, params)
    new = optax.apply_updates(params, updates)  #!
    return params, state  #- return new, state
for _ in range(6):
    params, state = step(params, state)
"""

# Each program, and the beginning of its fix.
FIXES = {
    "the_second_of_two_logarithms": (
        """
w, x = jnp.ones(3), jnp.full((4, 3), 9.0)
def loss(w):
    p = jax.nn.sigmoid(x @ w)
    return -jnp.mean(0.5 * jnp.log(p) + 0.5 * jnp.log(1 - p))
print(jax.grad(loss)(w))
""",
        "`jnp.log(1 - p)` is not finite where `1 - p` is zero.",
    ),
    "the_first_of_two_logarithms": (
        """
w, x = -jnp.ones(3), jnp.full((4, 3), 99.0)
def loss(w):
    p = jax.nn.sigmoid(x @ w)
    return -jnp.mean(0.5 * jnp.log(p) + 0.5 * jnp.log(1 - p))
print(jax.grad(loss)(w))
""",
        "`jnp.log(p)` is not finite where `p` is zero.",
    ),
    "the_scores_that_a_sample_is_drawn_from": (
        """
def loss(w, key):
    return jnp.mean(jax.random.categorical(key, 2.0 * w) * 1.0)
for seed in range(2):
    print(jax.grad(loss)(jnp.ones(3), jax.random.key(seed)))
""",
        "`jax.nn.softmax` of `2.0 * w`, or with `2.0 * w` itself",
    ),
    "a_function_that_reads_its_column_second": (
        """
w, x, y = jnp.ones((3, 1)), jnp.arange(12.0).reshape(4, 3), jnp.ones(4)
def weigh(score, label):
    return label * score
def loss(w, y):
    score = x @ w
    return jnp.mean(weigh(score, y) ** 2)
for _ in range(2):
    print(jax.grad(loss)(w, y))
""",
        "Give both operands the same shape",
    ),
    "a_library_function_that_reads_its_column_second": (
        """
import optax
w, x, labels = jnp.ones((3, 1)), jnp.arange(12.0).reshape(4, 3), jnp.ones(4)
def loss(w, y):
    score = x @ w
    return optax.sigmoid_binary_cross_entropy(score, y).mean()
for _ in range(2):
    print(jax.grad(loss)(w, labels))
""",
        "Give both operands the same shape: use score.squeeze(-1) for the column, or y[:, None] for the row.",
    ),
}

FLAX_CASES = """
#@ jit_drops_what_an_nnx_step_changed not_applied
import optax
from flax import nnx
model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
@jax.jit  #- @nnx.jit
def step(model, optimizer, x):
    gradient = nnx.grad(lambda model: jnp.mean((model(x) - 1.0) ** 2))(model)
    optimizer.update(model, gradient)  #!
for _ in range(8):
    step(model, optimizer, jnp.arange(12.0).reshape(4, 3) / 12)
#@ the_statistics_of_a_normalization_are_dropped state_not_kept
import flax.linen as nn
norm, x = nn.BatchNorm(use_running_average=False), jnp.arange(12.0).reshape(4, 3) ** 2
values = norm.init(jax.random.key(0), x)
params, stats = values["params"], values["batch_stats"]
@jax.jit
def step(params, stats):
    def loss(params):
        y, new = norm.apply({"params": params, "batch_stats": stats}, x, mutable=["batch_stats"])  #!
        return jnp.mean((y - x) ** 2), new["batch_stats"]
    gradients, new_stats = jax.grad(loss, has_aux=True)(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
    return params, stats  #- return params, new_stats
for _ in range(8):
    params, stats = step(params, stats)
#@ a_frozen_normalization_keeps_its_statistics connected
import flax.linen as nn
norm, x = nn.BatchNorm(use_running_average=True), jnp.arange(12.0).reshape(4, 3) ** 2
values = norm.init(jax.random.key(0), x)
params, stats = values["params"], values["batch_stats"]
for _ in range(8):
    def loss(params):
        return jnp.mean((norm.apply({"params": params, "batch_stats": stats}, x) - x) ** 2)
    params = jax.tree.map(lambda p, g: p - 0.001 * g, params, jax.grad(loss)(params))
#@ a_frozen_normalization_returns_its_statistics_unchanged connected
import flax.linen as nn
norm, x = nn.BatchNorm(use_running_average=True), jnp.arange(12.0).reshape(4, 3) ** 2
values = norm.init(jax.random.key(0), x)
params, stats = values["params"], values["batch_stats"]
def loss(params, stats):
    y, new = norm.apply({"params": params, "batch_stats": stats}, x, mutable=["batch_stats"])
    return jnp.mean((y - x) ** 2), new["batch_stats"]
for _ in range(8):
    gradients, stats = jax.grad(loss, has_aux=True)(params, stats)
    params = jax.tree.map(lambda p, g: p - 0.001 * g, params, gradients)
#@ a_discriminator_keeps_its_statistics_in_the_step_of_its_generator connected
import flax.linen as nn
norm, x = nn.BatchNorm(use_running_average=False), jnp.arange(12.0).reshape(4, 3) / 12
values, w = norm.init(jax.random.key(0), x), jnp.ones(3)
params, stats = values["params"], values["batch_stats"]
def score(params, w, stats):
    y, new = norm.apply({"params": params, "batch_stats": stats}, jnp.tanh(x * w), mutable=["batch_stats"])
    return jnp.mean((y - x) ** 2), new["batch_stats"]
for _ in range(8):
    result = jax.grad(score, has_aux=True)(params, w, stats)
    params, stats = jax.tree.map(lambda p, g: p - 0.001 * g, params, result[0]), result[1]
    w = w - 0.001 * jax.grad(lambda w: score(params, w, stats)[0])(w)
"""

STATE_OF_LOST_PARAMETERS = """
import optax
w, optimizer = jnp.ones(3), optax.adam(0.1)
state = optimizer.init(w)
for _ in range(5):
    optax.apply_updates(w, optimizer.update(jax.grad(lambda w: jnp.sum((w - 3.0) ** 2))(w), state)[0])
"""

FIXED_ARRAY = """
def loss(p):
    fixed = jax.lax.stop_gradient(p["fixed"])
    return jnp.sum((jnp.sin(fixed * 0.3) * p["w"] - 1.0) ** 2)
p = {"fixed": jnp.arange(1.0, 4.0), "w": jnp.ones(3)}
for _ in range(3):
    gradient = jax.jit(jax.grad(loss))(p)
    p = {name: p[name] - 0.1 * gradient[name] for name in p}
"""

CLIPPED_ANGLE = """
def angle(w):
    overlap = jnp.vdot(jnp.sqrt(jax.nn.softmax(w)), jnp.full(4, 0.5))
    return jnp.arccos(jnp.clip(overlap, 0.0, 1.0 - 1e-6)) ** 2
for _ in range(2):
    print(jax.grad(angle)(jnp.zeros(4)))
"""
