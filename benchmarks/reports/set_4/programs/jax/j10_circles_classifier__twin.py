import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)


def make_circles(n):
    angle = rng.uniform(0, 2 * np.pi, n)
    label = rng.integers(0, 2, n)
    radius = np.where(label == 1, 1.0, 3.0) + rng.normal(0, 0.1, n)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype(np.float32), label.astype(np.float32)


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (i, o)) * np.sqrt(2.0 / i), jnp.zeros(o))
        for k, i, o in zip(keys, sizes[:-1], sizes[1:])
    ]


def predict(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jax.nn.sigmoid((x @ w + b)[:, 0])


def loss_fn(params, x, y):
    p = predict(params, x)
    return -jnp.mean(y * jnp.log(p + 1e-7) + (1 - y) * jnp.log(1 - p + 1e-7))


@jax.jit
def update(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = opt.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


x, y = make_circles(1000)
x = 4.0 * x
params = init_mlp(jax.random.key(2), [2, 64, 64, 1])
opt = optax.adam(1e-2)
opt_state = opt.init(params)
for step in range(300):
    idx = rng.integers(0, len(x), 100)
    params, opt_state, loss = update(params, opt_state, x[idx], y[idx])
    if step % 50 == 0:
        accuracy = jnp.mean((predict(params, x) > 0.5) == y)
        print(f"step {step} loss {loss:.5f} accuracy {accuracy:.3f}")
