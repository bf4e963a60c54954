import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k1, k2, k3 = jax.random.split(key, 3)
params = {"gate": jax.random.normal(k1, (4, 3)) * 0.5, "experts": jax.random.normal(k2, (3, 4)) * 0.3}
x = jax.random.normal(k3, (300, 4))
which = jnp.argmax(x[:, :3], axis=1)
true_experts = jax.random.normal(jax.random.PRNGKey(9), (3, 4))
y = jnp.sum(true_experts[which] * x, axis=1)


def predict(params, x):
    logits = x @ params["gate"]
    choice = jax.nn.one_hot(jnp.argmax(logits, axis=1), 3)
    outputs = x @ params["experts"].T
    return jnp.sum(choice * outputs, axis=1)


def loss_fn(params):
    return jnp.mean((predict(params, x) - y) ** 2)


optimizer = optax.adam(3e-2)
state = optimizer.init(params)
step = jax.jit(jax.value_and_grad(loss_fn))
for i in range(60):
    loss, grads = step(params)
    updates, state = optimizer.update(grads, state)
    params = optax.apply_updates(params, updates)
    if i % 15 == 14:
        print(i + 1, float(loss))
