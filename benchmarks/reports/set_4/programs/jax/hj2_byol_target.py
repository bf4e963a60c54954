import jax
import jax.numpy as jnp
import optax


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (i, o)) * (2 / i) ** 0.5, "b": jnp.zeros(o)}
        for k, i, o in zip(keys, sizes[:-1], sizes[1:])
    ]


def mlp(layers, x):
    for layer in layers[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def normalize(z):
    return z / jnp.sqrt(jnp.sum(z**2, axis=-1, keepdims=True) + 1e-8)


def loss_fn(online, target, v1, v2):
    p1 = normalize(mlp(online["predictor"], mlp(online["encoder"], v1)))
    p2 = normalize(mlp(online["predictor"], mlp(online["encoder"], v2)))
    t1 = jax.lax.stop_gradient(normalize(mlp(target, v1)))
    t2 = jax.lax.stop_gradient(normalize(mlp(target, v2)))
    return 4 - 2 * jnp.mean(jnp.sum(p1 * t2, -1)) - 2 * jnp.mean(jnp.sum(p2 * t1, -1))


k1, k2, key = jax.random.split(jax.random.key(0), 3)
online = {"encoder": init(k1, [12, 64, 16]), "predictor": init(k2, [16, 32, 16])}
target = jax.tree.map(jnp.copy, online["encoder"])
tx = optax.adam(1e-3)
opt_state = tx.init(online)
data = jax.random.normal(jax.random.key(1), (512, 12))


@jax.jit
def step(online, target, opt_state, x, key):
    ka, kb = jax.random.split(key)
    v1 = x + 0.2 * jax.random.normal(ka, x.shape)
    v2 = x + 0.2 * jax.random.normal(kb, x.shape)
    loss, grads = jax.value_and_grad(loss_fn)(online, target, v1, v2)
    updates, opt_state = tx.update(grads, opt_state)
    online = optax.apply_updates(online, updates)
    target = optax.incremental_update(online["encoder"], target, 0.01)
    return online, target, opt_state, loss


for epoch in range(5):
    for i in range(0, 512, 64):
        key, sub = jax.random.split(key)
        online, target, opt_state, loss = step(online, target, opt_state, data[i : i + 64], sub)
    print(f"epoch {epoch} loss {loss:.4f}")
