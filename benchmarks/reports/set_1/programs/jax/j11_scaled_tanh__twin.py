import jax
import jax.numpy as jnp
import optax


@jax.custom_vjp
def bounded(x, limit):
    return limit * jnp.tanh(x / limit)


def bounded_fwd(x, limit):
    out = limit * jnp.tanh(x / limit)
    return out, (out, limit)


def bounded_bwd(saved, g):
    out, limit = saved
    return g * (1 - (out / limit) ** 2), jnp.zeros_like(limit)


bounded.defvjp(bounded_fwd, bounded_bwd)

key = jax.random.PRNGKey(0)
params = {"w1": jax.random.normal(key, (3, 32)), "w2": jax.random.normal(key, (32, 1)) * 0.1}
x = jax.random.normal(jax.random.PRNGKey(1), (200, 3))
y = 2.0 * jnp.tanh(x[:, :1]) - x[:, 1:2]
limit = jnp.array(3.0)


def loss_fn(params):
    return jnp.mean((bounded(2.0 * x @ params["w1"], limit) @ params["w2"] - y) ** 2)


optimizer = optax.adam(1e-2)
state = optimizer.init(params)
step = jax.jit(jax.value_and_grad(loss_fn))
for i in range(60):
    loss, grads = step(params)
    updates, state = optimizer.update(grads, state)
    params = optax.apply_updates(params, updates)
    if i % 15 == 14:
        print(i + 1, float(loss))
