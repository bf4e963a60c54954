import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
params = {"a": jax.random.normal(key, (8, 8)) * 0.2, "b": jax.random.normal(key, (8, 1)) * 0.5, "c": jnp.ones((1, 8)) * 0.1}
inputs = jax.random.normal(jax.random.PRNGKey(1), (40, 30))
kernel = 0.8 ** jnp.arange(30.0)
targets = jax.vmap(lambda u: jnp.convolve(u, kernel)[:30])(inputs)


def run(params, u):
    def cell(state, u_t):
        new_state = jnp.tanh(params["a"] @ state + params["b"][:, 0] * u_t)
        return new_state, params["c"][0] @ new_state

    _, outputs = jax.lax.scan(cell, jnp.zeros(8), u)
    return outputs


def loss_fn(params):
    return jnp.mean((jax.vmap(run, (None, 0))(params, inputs) - targets) ** 2)


optimizer = optax.adam(2e-2)
state = optimizer.init(params)
step = jax.jit(jax.value_and_grad(loss_fn))
for i in range(60):
    loss, grads = step(params)
    updates, state = optimizer.update(grads, state)
    params = optax.apply_updates(params, updates)
    if i % 15 == 14:
        print(i + 1, float(loss))
