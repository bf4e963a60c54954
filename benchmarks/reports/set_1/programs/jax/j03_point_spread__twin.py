import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(1)
points = jax.random.normal(key, (24, 2)) * 0.3


def repulsion(points, radius=1.0):
    offsets = points[:, None] - points[None]
    distance = jnp.sqrt((offsets ** 2).sum(-1) + 1e-12)
    overlap = jnp.maximum(radius - distance, 0.0) ** 2
    overlap = jnp.where(jnp.eye(len(points), dtype=bool), 0.0, overlap)
    return overlap.sum() / len(points) + 0.05 * jnp.mean(points ** 2)


optimizer = optax.adam(3e-2)
state = optimizer.init(points)


@jax.jit
def step(points, state):
    energy, gradient = jax.value_and_grad(repulsion)(points)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(points, updates), state, energy


for i in range(50):
    points, state, energy = step(points, state)
    if i % 10 == 0:
        print(i, float(energy))
