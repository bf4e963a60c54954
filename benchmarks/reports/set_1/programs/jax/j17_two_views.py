import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k1, k2, k3 = jax.random.split(key, 3)
params = {"encoder": jax.random.normal(k1, (8, 4)) * 0.4, "predictor": jax.random.normal(k2, (4, 4)) * 0.4}
data = jax.random.normal(k3, (200, 3)) @ jax.random.normal(k1, (3, 8))


def normalize(z):
    return z / jnp.sqrt(jnp.sum(z ** 2, -1, keepdims=True) + 1e-6)


def similarity(p, z):
    return -jnp.mean(jnp.sum(normalize(p) * normalize(z), -1))


def loss_fn(params, key):
    ka, kb = jax.random.split(key)
    view_a = data + 0.1 * jax.random.normal(ka, data.shape)
    view_b = data + 0.1 * jax.random.normal(kb, data.shape)
    z_a = jax.lax.stop_gradient(jnp.tanh(view_a @ params["encoder"]))
    z_b = jax.lax.stop_gradient(jnp.tanh(view_b @ params["encoder"]))
    p_a, p_b = z_a @ params["predictor"], z_b @ params["predictor"]
    return 0.5 * similarity(p_a, z_b) + 0.5 * similarity(p_b, z_a)


optimizer = optax.sgd(0.5)
state = optimizer.init(params)
step = jax.jit(jax.value_and_grad(loss_fn))
for i in range(40):
    loss, grads = step(params, jax.random.PRNGKey(i))
    updates, state = optimizer.update(grads, state)
    params = optax.apply_updates(params, updates)
    if i % 10 == 9:
        print(i + 1, float(loss))
