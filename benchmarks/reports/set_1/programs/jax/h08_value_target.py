import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k1, k2 = jax.random.split(key)
params = {"w": jax.random.normal(k1, (6, 16)) * 0.4, "v": jax.random.normal(k2, (16, 1)) * 0.1}
target = params
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
opt_state = optimizer.init(params)


def value(p, s):
    return (jnp.tanh(jax.nn.one_hot(s, 6) @ p["w"]) @ p["v"])[:, 0]


@jax.jit
def step(params, target, opt_state, key):
    state = jax.random.randint(key, (64,), 0, 5)
    following = state + 1
    reward = (following == 5).astype(jnp.float32)

    def loss_fn(p):
        bootstrap = jax.lax.stop_gradient(value(target, following))
        goal = reward + 0.9 * (1 - reward) * bootstrap
        return jnp.mean((value(p, state) - goal) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for i in range(60):
    params, opt_state, loss = step(params, target, opt_state, jax.random.PRNGKey(i))
    target = optax.incremental_update(params, target, 0.2)
    if i % 15 == 14:
        print(i + 1, float(loss), value(params, jnp.arange(5)))
