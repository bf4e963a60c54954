import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(2)
sizes = [1, 24, 24, 1]
params = []
for n_in, n_out in zip(sizes[:-1], sizes[1:]):
    key, sub = jax.random.split(key)
    params.append((jax.random.normal(sub, (n_in, n_out)) * jnp.sqrt(1.0 / n_in), jnp.zeros(n_out)))


def solution(params, x):
    h = jnp.atleast_1d(x)
    for w, b in params[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = params[-1]
    return (h @ w + b)[0]


u_x = jax.grad(solution, argnums=1)
u_xx = jax.grad(u_x, argnums=1)
grid = jnp.linspace(0.02, 0.98, 40)
source = jnp.pi**2 * jnp.sin(jnp.pi * grid)


def residual_loss(params):
    curvature = jax.vmap(u_xx, in_axes=(None, 0))(params, grid)
    interior = jnp.mean((curvature + source) ** 2)
    boundary = solution(params, 0.0) ** 2 + solution(params, 1.0) ** 2
    return interior + 50.0 * boundary, interior


tx = optax.adam(5e-3)
opt_state = tx.init(params)


@jax.jit
def step(params, opt_state):
    (loss, interior), grads = jax.value_and_grad(residual_loss, has_aux=True)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, interior


for i in range(600):
    params, opt_state, loss, interior = step(params, opt_state)
    if i % 150 == 0 or i == 599:
        error = jnp.max(jnp.abs(jax.vmap(solution, (None, 0))(params, grid) - jnp.sin(jnp.pi * grid)))
        print(f"step {i} loss {float(loss):.4f} interior {float(interior):.4f} max error {float(error):.4f}")
