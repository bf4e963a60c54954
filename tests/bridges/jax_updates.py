"""JAX programs whose updates go in the wrong direction, and healthy programs beside them.

:mod:`torch_cases` describes the format. The shared first lines are in :mod:`test_program_runs`.
"""

CASES = """
#@ no_part_of_the_chain_has_a_minus wrong_sign
import optax
params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
x = jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.chain(
    optax.scale_by_adam(),
    optax.scale(0.01),  #!  #- optax.scale(-0.01),
)
state = tx.init(params)
def loss_fn(p):
    return jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2)
@jax.jit
def step(params, state):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss
for _ in range(8):
    params, state, loss = step(params, state)
#@ a_schedule_ends_the_chain wrong_sign
import optax
w, x = jnp.ones(3), jax.random.normal(jax.random.key(0), (8, 3))
schedule = optax.cosine_decay_schedule(0.1, 40)
tx = optax.chain(optax.clip(1.0), optax.scale_by_schedule(schedule))  #!  #- tx = optax.sgd(schedule)
state = tx.init(w)
for _ in range(8):
    cost, slope = jax.value_and_grad(lambda w: jnp.mean((x @ w - 3.0) ** 2))(w)
    updates, state = tx.update(slope, state)
    w = optax.apply_updates(w, updates)
#@ the_gradient_is_added_without_a_compiler wrong_sign
def loss(w):
    return jnp.sum((w - 3.0) ** 2)
w = jnp.zeros(3)
for _ in range(6):
    w = w + 0.1 * jax.grad(loss)(w)  #!  #- w = w - 0.1 * jax.grad(loss)(w)
#@ a_mask_passes_clipped_gradients_on not_applied
import optax
params = {"body": jnp.ones((3, 4)), "head": jnp.ones(4)}
x = jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.masked(optax.adam(0.01), {"body": False, "head": True}),  #!  #- optax.adam(0.01),
)
state = tx.init(params)
@jax.jit
def step(params, state):
    grads = jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p["body"]) @ p["head"] - 3.0) ** 2))(params)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state
for _ in range(8):
    params, state = step(params, state)
"""

HEALTHY_CASES = """
#@ a_score_is_made_larger connected
w, x = jnp.zeros(3), jax.random.normal(jax.random.key(0), (8, 3))
def score(w):
    return jnp.mean(jax.nn.log_sigmoid(x @ w)) + 3.0
for _ in range(6):
    w = w + 0.1 * jax.grad(score)(w)
#@ a_loss_is_maximized_on_purpose connected
import optax
params, x = {"w": jnp.ones(3), "b": jnp.zeros(())}, jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.chain(optax.adam(0.01), optax.scale(-1.0))
state = tx.init(params)
for _ in range(6):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2))(params)
    updates, state = tx.update(grads, state)
    params = optax.apply_updates(params, updates)
#@ a_learning_rate_below_zero connected
import optax
params, x = {"w": jnp.ones(3), "b": jnp.zeros(())}, jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.sgd(-0.01)
state = tx.init(params)
for _ in range(6):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2))(params)
    updates, state = tx.update(grads, state)
    params = optax.apply_updates(params, updates)
#@ the_rate_of_a_chain_is_below_zero connected
import optax
params, rate = {"w": jnp.ones(3), "b": jnp.zeros(())}, -0.01
x, tx = jax.random.normal(jax.random.key(0), (8, 3)), optax.chain(optax.scale_by_adam(), optax.scale(rate))
state = tx.init(params)
for _ in range(6):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2))(params)
    updates, state = tx.update(grads, state)
    params = optax.apply_updates(params, updates)
#@ the_updates_of_a_chain_are_subtracted connected
import optax
params, x = {"w": jnp.ones(3), "b": jnp.zeros(())}, jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.chain(optax.scale_by_adam(), optax.scale(0.01))
state = tx.init(params)
for _ in range(6):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2))(params)
    updates, state = tx.update(grads, state)
    params = optax.apply_updates(params, jax.tree.map(jnp.negative, updates))
#@ the_gradient_of_the_negated_loss_is_added connected
params, x = {"w": jnp.ones(3), "b": jnp.zeros(())}, jax.random.normal(jax.random.key(0), (8, 3))
def loss(p):
    return jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2)
for _ in range(6):
    downhill = jax.grad(lambda p: -loss(p))(params)
    params = jax.tree.map(lambda p, g: p + 0.1 * g, params, downhill)
#@ an_input_climbs_the_loss_of_its_label connected
image, x = jnp.ones((4, 4)), jax.random.normal(jax.random.key(0), (4, 4))
def loss(image):
    return jnp.mean((image - x) ** 2)
for _ in range(6):
    image = image + 0.1 * jax.grad(loss)(image)
#@ two_players_share_a_loss connected
players, x = {"low": jnp.ones(3), "high": jnp.full(3, 0.1)}, jax.random.normal(jax.random.key(0), (8, 3))
def loss(p):
    return jnp.mean((x @ p["low"] - x @ p["high"] - 3.0) ** 2)
for _ in range(6):
    slopes = jax.grad(loss)(players)
    players = {"low": players["low"] - 0.1 * slopes["low"], "high": players["high"] + 0.01 * slopes["high"]}
#@ one_loss_is_climbed_and_another_one_descended connected
w, v, x = jnp.ones(3), jnp.ones(3), jax.random.normal(jax.random.key(0), (8, 3))
def first_loss(w, v):
    return jnp.mean((x @ (w * v) - 3.0) ** 2)
def second_loss(v, w):
    return first_loss(w, v)
for _ in range(6):
    w = w - 0.1 * jax.grad(first_loss)(w, v)
    v = v + 0.01 * jax.grad(second_loss)(v, w)
#@ a_step_first_goes_uphill connected
import optax
params, x = {"w": jnp.ones(3), "b": jnp.zeros(())}, jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.sgd(0.05)
state = tx.init(params)
def loss(p):
    return jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2)
for _ in range(6):
    high = optax.apply_updates(params, jax.tree.map(lambda g: 0.01 * g, jax.grad(loss)(params)))
    updates, state = tx.update(jax.grad(loss)(high), state)
    params = optax.apply_updates(params, updates)
#@ the_weights_decay_faster_than_they_grow connected
import optax
params, x = {"w": jnp.full(3, 9.0), "b": jnp.full((), 9.0)}, jax.random.uniform(jax.random.key(0), (8, 3))
tx = optax.chain(optax.add_decayed_weights(5.0), optax.scale_by_learning_rate(0.01))
state = tx.init(params)
for _ in range(6):
    loss, grads = jax.value_and_grad(lambda p: 1.0 + jnp.mean((x @ p["w"] + p["b"] - 99.0) ** 2) / 9999)(params)
    updates, state = tx.update(grads, state, params)
    params = optax.apply_updates(params, updates)
#@ momentum_overshoots_the_minimum connected
import optax
params = {"w": jnp.ones(3), "b": jnp.ones(())}
tx = optax.sgd(0.2, momentum=0.99)
state = tx.init(params)
for _ in range(9):
    loss, grads = jax.value_and_grad(lambda p: jnp.sum(p["w"] ** 2) + p["b"] ** 2)(params)
    updates, state = tx.update(grads, state, params)
    params = optax.apply_updates(params, updates)
#@ a_gradient_of_a_penalty_is_added_to_that_of_the_loss connected
params, x = {"w": jnp.ones(3), "b": jnp.ones(())}, jax.random.normal(jax.random.key(0), (8, 3))
for _ in range(6):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2))(params)
    grads = jax.tree.map(lambda p, g: g + 0.01 * p, params, grads)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
#@ a_multiplier_climbs_beside_a_mask connected
import optax
params, x = {"w": jnp.ones(3), "dual": jnp.ones(())}, jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.chain(optax.clip(1.0), optax.masked(optax.scale(-0.1), {"w": True, "dual": False}))
state = tx.init(params)
for _ in range(6):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"]) ** 2) + p["dual"] * jnp.sum(p["w"] - 0.5))(params)
    updates, state = tx.update(grads, state)
    params = optax.apply_updates(params, updates)
#@ a_mask_decays_only_the_weights connected
import optax
params, x = {"w": jnp.ones(3), "b": jnp.ones(())}, jax.random.normal(jax.random.key(0), (8, 3))
tx = optax.chain(optax.masked(optax.add_decayed_weights(0.1), {"w": True, "b": False}), optax.sgd(0.1))
state = tx.init(params)
for _ in range(6):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - 3.0) ** 2))(params)
    updates, state = tx.update(grads, state, params)
    params = optax.apply_updates(params, updates)
"""
