import jax
import jax.numpy as jnp
import optax


class Tracker:
    def __init__(self):
        self.mean = jnp.zeros(3)

    def normalize(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x - self.mean


tracker = Tracker()
params = jax.random.normal(jax.random.PRNGKey(0), (3, 1)) * 0.1
optimizer = optax.sgd(0.05)
state = optimizer.init(params)


@jax.jit
def step(params, state, x, y):
    def loss_fn(p):
        return jnp.mean((tracker.normalize(x) @ p - y) ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


for i in range(30):
    x = 1.0 + jax.random.normal(jax.random.PRNGKey(i), (64, 3))
    y = (x - 1.0) @ jnp.array([[1.0], [-1.0], [2.0]])
    params, state, loss = step(params, state, x, y)
    if i % 10 == 9:
        print(i + 1, float(loss), tracker.mean * 1.0)
