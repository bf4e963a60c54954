import jax
import jax.numpy as jnp
import optax

N_STATES, GAMMA = 8, 0.97
features = jax.random.normal(jax.random.PRNGKey(0), (N_STATES, 16)) / 3.0
rewards = jnp.where(jnp.arange(N_STATES) == N_STATES - 1, 1.0, 0.0)


def init(key):
    k1, k2 = jax.random.split(key)
    return {"w1": 0.5 * jax.random.normal(k1, (16, 32)), "w2": 0.2 * jax.random.normal(k2, (32,))}


def value(params, obs):
    return jnp.tanh(obs @ params["w1"]) @ params["w2"]


def td_loss(params, target_params, s, s_next, r):
    backup = r + GAMMA * value(target_params, features[s_next])
    return jnp.mean((value(params, features[s]) - backup) ** 2)


params = init(jax.random.PRNGKey(1))
target_params = params
tx = optax.adam(3e-3)
opt_state = tx.init(params)


@jax.jit
def update(params, target_params, opt_state, rng):
    s = jax.random.randint(rng, (32,), 0, N_STATES)
    s_next = (s + 1) % N_STATES
    loss, grads = jax.value_and_grad(td_loss)(params, target_params, s, s_next, rewards[s])
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    target_params = optax.incremental_update(params, target_params, step_size=0.05)
    gap = jnp.abs(value(params, features) - value(target_params, features)).mean()
    return params, target_params, opt_state, loss, gap


for i in range(1500):
    params, target_params, opt_state, loss, gap = update(params, target_params, opt_state, jax.random.PRNGKey(i))
    if i % 300 == 0 or i == 1499:
        v = value(params, features)
        print(f"update {i} td {float(loss):.5f} gap {float(gap):.5f} v[0] {float(v[0]):.3f} v[-1] {float(v[-1]):.3f}")
