import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(3)
area = rng.uniform(40, 220, 300)
year = rng.uniform(1930, 2020, 300)
price = 2.1 * area + 0.8 * (year - 1930) + rng.normal(0, 10, 300)
table = jnp.asarray(np.stack([area, year], 1), jnp.float32)
expensive = jnp.asarray(price > np.median(price), jnp.float32)
inputs = (table - table.mean(0)) / table.std(0)


def predict(params, x):
    return jax.nn.sigmoid(x @ params["w"] + params["b"])


def cross_entropy(params, x, y):
    p = predict(params, x)
    return -jnp.mean(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))


params = {"w": jnp.array([0.05, 0.02]), "b": jnp.zeros(())}
tx = optax.adam(5e-2)
opt_state = tx.init(params)


@jax.jit
def train_step(params, opt_state):
    loss, grads = jax.value_and_grad(cross_entropy)(params, inputs, expensive)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, grads


for epoch in range(150):
    params, opt_state, loss, grads = train_step(params, opt_state)
    if epoch % 30 == 0 or epoch == 149:
        acc = jnp.mean((predict(params, inputs) > 0.5) == (expensive > 0.5))
        print(f"epoch {epoch} loss {float(loss):.4f} acc {float(acc):.3f} grad w {np.asarray(grads['w'])}")
