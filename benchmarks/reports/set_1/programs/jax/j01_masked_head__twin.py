import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k1, k2, k3, k4 = jax.random.split(key, 4)
params = {
    "base": {"w": jax.random.normal(k1, (6, 16)) * 0.4, "b": jnp.zeros(16)},
    "head": {"w": jax.random.normal(k2, (16, 1)) * 0.2, "b": jnp.zeros(1)},
}
x = jax.random.normal(k3, (200, 6))
y = jnp.tanh(x @ jax.random.normal(k4, (6, 1)))


def predict(params, x):
    hidden = jnp.tanh(x @ params["base"]["w"] + params["base"]["b"])
    return hidden @ params["head"]["w"] + params["head"]["b"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


mask = {"base": False, "head": True}
optimizer = optax.multi_transform({True: optax.sgd(0.1), False: optax.set_to_zero()}, mask)
opt_state = optimizer.init(params)


@jax.jit
def step(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


start = params["base"]["w"]
for i in range(40):
    params, opt_state, loss = step(params, opt_state)
    if i % 10 == 0:
        print(i, float(loss))
print("base moved", float(jnp.abs(params["base"]["w"] - start).max()))
