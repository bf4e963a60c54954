import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(3)
kw, ka, kd, kx = jax.random.split(key, 4)
base = {"w": jax.random.normal(kw, (12, 8)) * 0.3}
adapter = {"a": jax.random.normal(ka, (12, 2)) * 0.3, "b": jnp.zeros((2, 8))}
params = {"base": base, "adapter": adapter}
x = jax.random.normal(kx, (256, 12)).at[:4].set(0.0)
delta = jax.random.normal(kd, (12, 2)) @ jax.random.normal(kd, (2, 8)) * 0.3
y = x @ (base["w"] + delta)


def length(v):
    square = jnp.sum(v * v, axis=-1)
    zero = square == 0.0
    return jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, square)))


def loss_fn(params):
    w = jax.lax.stop_gradient(params["base"]["w"]) + params["adapter"]["a"] @ params["adapter"]["b"]
    return jnp.mean(length(x @ w - y))


labels = {"base": "frozen", "adapter": "train"}
optimizer = optax.multi_transform({"frozen": optax.set_to_zero(), "train": optax.adam(1e-2)}, labels)
opt_state = optimizer.init(params)


@jax.jit
def update(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for step in range(301):
    params, opt_state, loss = update(params, opt_state)
    if step % 60 == 0:
        print(f"step {step} loss {loss:.5f}")
