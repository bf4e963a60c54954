import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k1, k2, kx, kt = jax.random.split(key, 4)
params = {
    "backbone": {"w": jax.random.normal(k1, (8, 32)) * 0.3, "b": jnp.zeros(32)},
    "head": {"w": jax.random.normal(k2, (32, 1)) * 0.1, "b": jnp.zeros(1)},
}
x = jax.random.normal(kx, (256, 8))
y = jnp.tanh(x @ jax.random.normal(kt, (8, 1)) * 0.5)


def predict(params, x):
    h = jnp.tanh(x @ params["backbone"]["w"] + params["backbone"]["b"])
    return h @ params["head"]["w"] + params["head"]["b"]


def loss_fn(params):
    return jnp.mean((predict(params, x) - y) ** 2)


trainable = {"backbone": False, "head": True}
labels = {"backbone": "fixed", "head": "tuned"}
optimizer = optax.masked(optax.adam(1e-2), trainable)
opt_state = optimizer.init(params)


@jax.jit
def update(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


start = params["backbone"]["w"]
for step in range(201):
    params, opt_state, loss = update(params, opt_state)
    if step % 40 == 0:
        moved = jnp.abs(params["backbone"]["w"] - start).max()
        print(f"step {step} loss {loss:.5f} backbone moved {moved:.5f}")
