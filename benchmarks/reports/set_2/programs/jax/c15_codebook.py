import jax
import jax.numpy as jnp
import optax
from jax.lax import stop_gradient

key = jax.random.PRNGKey(1)
k_c, k_x, k_e, k_d, k_b = jax.random.split(key, 5)
centers = 2.0 * jax.random.normal(k_c, (6, 10))
data = centers[jnp.arange(240) % 6] + 0.1 * jax.random.normal(k_x, (240, 10))
params = {
    "enc": 0.2 * jax.random.normal(k_e, (10, 3)),
    "dec": 0.2 * jax.random.normal(k_d, (3, 10)),
    "codes": jax.random.normal(k_b, (12, 3)),
}


def vq_loss(params, x):
    z = x @ params["enc"]
    dist = jnp.sum((z[:, None, :] - params["codes"][None]) ** 2, axis=-1)
    quantized = params["codes"][jnp.argmin(dist, axis=1)]
    codebook = jnp.mean((quantized - stop_gradient(z)) ** 2)
    commit = jnp.mean((stop_gradient(quantized) - z) ** 2)
    recon = jnp.mean((quantized @ params["dec"] - x) ** 2)
    return recon + codebook + 0.25 * commit, recon


tx = optax.adam(1e-2)
opt_state = tx.init(params)


@jax.jit
def step(params, opt_state):
    (loss, recon), grads = jax.value_and_grad(vq_loss, has_aux=True)(params, data)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, recon


recon_grad = jax.grad(lambda p: vq_loss(p, data)[1])
for i in range(500):
    params, opt_state, loss, recon = step(params, opt_state)
    if i % 100 == 0 or i == 499:
        norm = jnp.linalg.norm(recon_grad(params)["enc"])
        print(f"step {i} loss {float(loss):.4f} recon {float(recon):.4f} encoder recon grad {float(norm):.4f}")
