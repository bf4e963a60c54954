import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.PRNGKey(0), (300, 4))
y = x @ jnp.array([2.0, -1.0, 0.5, 3.0]) - 1.0


def loss_fn(params):
    prediction = x @ params[:4] + params[4]
    return jnp.mean(jnp.abs(prediction - y))


def numeric_gradient(f, params, eps=1e-3):
    basis = jnp.eye(len(params))
    forward = jax.vmap(lambda e: f(params + eps * e))(basis)
    backward = jax.vmap(lambda e: f(params - eps * e))(basis)
    return (forward - backward) / (2 * eps)


params = jnp.ones(5)
for step in range(60):
    gradient = numeric_gradient(loss_fn, params)
    params = params - 0.1 * gradient
    if step % 15 == 14:
        print(step + 1, "loss", float(loss_fn(params)), "check", float(jnp.abs(jax.grad(loss_fn)(params) - gradient).max()))
