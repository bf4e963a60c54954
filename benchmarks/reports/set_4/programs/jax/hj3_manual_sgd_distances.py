import jax
import jax.numpy as jnp

# Metric multidimensional scaling with plain gradient descent and a safe norm.
N = 30


def safe_norm(v):
    square = jnp.sum(v**2, axis=-1)
    is_zero = square == 0.0
    return jnp.where(is_zero, 0.0, jnp.sqrt(jnp.where(is_zero, 1.0, square)))


def distances(points):
    return safe_norm(points[:, None, :] - points[None, :, :])


def stress(points, target):
    return jnp.sum((distances(points) - target) ** 2) / (N * (N - 1))


k1, k2 = jax.random.split(jax.random.key(0))
target = distances(jax.random.normal(k1, (N, 5)))
points = 0.1 * jax.random.normal(k2, (N, 2))
grad_fn = jax.jit(jax.value_and_grad(stress))
velocity = jnp.zeros_like(points)
for step in range(150):
    loss, gradient = grad_fn(points, target)
    velocity = 0.9 * velocity - 0.5 * gradient
    points = points + velocity
    if step % 30 == 0:
        print(f"step {step} stress {loss:.4f}")
# the start is centred afterwards: stress does not see a shift
points = points - points.mean(axis=0)
print(jnp.abs(points).max())
