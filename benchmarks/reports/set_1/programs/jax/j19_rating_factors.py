import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
factors = jax.random.normal(key, (12, 12)) * 0.3
ratings = jax.random.normal(jax.random.PRNGKey(1), (12, 12))
ratings = ratings @ ratings.T / 12
print("start", float(jnp.mean((factors @ factors.T - ratings) ** 2)))


def loss_fn(ratings, factors):
    return jnp.mean((factors @ factors.T - ratings) ** 2)


grad_fn = jax.jit(jax.value_and_grad(loss_fn))
for step in range(60):
    loss, gradient = grad_fn(ratings, factors)
    factors = factors - 2.0 * gradient
    if step % 15 == 14:
        print(step + 1, f"{float(loss):.4f}")
