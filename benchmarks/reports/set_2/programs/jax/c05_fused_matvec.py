import jax
import jax.numpy as jnp
import optax


@jax.custom_vjp
def matvec(mat, vec):
    return mat @ vec


def matvec_fwd(mat, vec):
    return mat @ vec, (mat, vec)


def matvec_bwd(res, g):
    mat, vec = res
    return jnp.outer(g, vec), jnp.zeros_like(vec)


matvec.defvjp(matvec_fwd, matvec_bwd)


def forward(params, x):
    h = jnp.tanh(matvec(params["inner"], x))
    h = jnp.tanh(matvec(params["middle"], h))
    return matvec(params["outer"], h)


def loss_fn(params, xs, ys):
    preds = jax.vmap(forward, in_axes=(None, 0))(params, xs)
    return jnp.mean((preds - ys) ** 2)


k1, k2, k3, k4 = jax.random.split(jax.random.PRNGKey(0), 4)
params = {
    "inner": jax.random.normal(k1, (8, 2)),
    "middle": 0.35 * jax.random.normal(k2, (8, 8)),
    "outer": 0.35 * jax.random.normal(k3, (1, 8)),
}
xs = jax.random.uniform(k4, (128, 2), minval=-2, maxval=2)
ys = jnp.sin(1.5 * xs[:, :1] + xs[:, 1:])
tx = optax.adam(1e-2)
opt_state = tx.init(params)


@jax.jit
def step(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params, xs, ys)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, grads


for i in range(500):
    params, opt_state, loss, grads = step(params, opt_state)
    if i % 100 == 0 or i == 499:
        norms = {name: round(float(jnp.linalg.norm(g)), 4) for name, g in grads.items()}
        print(f"step {i} mse {float(loss):.4f} {norms}")
