import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k_x, k_1, k_2, k_w = jax.random.split(key, 4)
signal = jax.random.normal(k_x, (2048, 6))
target = 1e-2 * jnp.sin(signal @ jax.random.normal(k_w, (6, 1)))
master = {
    "w1": 0.4 * jax.random.normal(k_1, (6, 32)),
    "w2": 2e-4 * jax.random.normal(k_2, (32, 1)),
}
LOSS_SCALE = 2.0**14
tx = optax.adam(5e-4)
opt_state = tx.init(master)


def scaled_loss(params, x, y):
    half = jax.tree.map(lambda p: p.astype(jnp.float16), params)
    hidden = jnp.tanh(x.astype(jnp.float16) @ half["w1"])
    error = (hidden @ half["w2"]).astype(jnp.float32) - y
    return LOSS_SCALE * jnp.mean(error**2)


@jax.jit
def step(master, opt_state):
    value, grads = jax.value_and_grad(scaled_loss)(master, signal, target)
    grads = jax.tree.map(lambda g: g / LOSS_SCALE, grads)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(master, updates), opt_state, value / LOSS_SCALE, grads


for i in range(800):
    master, opt_state, loss, grads = step(master, opt_state)
    if i % 100 == 0 or i == 799:
        nonzero = {k: round(float(jnp.mean(g != 0)), 3) for k, g in grads.items()}
        print(f"step {i} loss {float(loss):.3e} relative {float(loss / jnp.mean(target**2)):.4f} nonzero {nonzero}")
