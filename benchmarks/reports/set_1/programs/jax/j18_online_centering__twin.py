import jax
import jax.numpy as jnp
import optax


class Tracker:
    def __init__(self):
        self.mean = jnp.zeros(3)

    def normalize(self, x, mean):
        mean = 0.9 * mean + 0.1 * x.mean(0)
        return x - mean, mean


tracker = Tracker()
params = jax.random.normal(jax.random.PRNGKey(0), (3, 1)) * 0.1
optimizer = optax.sgd(0.05)
state = optimizer.init(params)


@jax.jit
def step(params, state, mean, x, y):
    def loss_fn(p):
        centered, new_mean = tracker.normalize(x, mean)
        return jnp.mean((centered @ p - y) ** 2), new_mean
    (loss, mean), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, mean, loss


for i in range(30):
    x = 1.0 + jax.random.normal(jax.random.PRNGKey(i), (64, 3))
    y = (x - 1.0) @ jnp.array([[1.0], [-1.0], [2.0]])
    params, state, tracker.mean, loss = step(params, state, tracker.mean, x, y)
    if i % 10 == 9:
        print(i + 1, float(loss), tracker.mean * 1.0)
