import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax


class VQVAE(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP
    codebook: jax.Array

    def __init__(self, dim, latent, codes, key):
        k1, k2, k3 = jr.split(key, 3)
        self.encoder = eqx.nn.MLP(dim, latent, 64, 2, key=k1)
        self.decoder = eqx.nn.MLP(latent, dim, 64, 2, key=k2)
        self.codebook = 0.5 * jr.normal(k3, (codes, latent))

    def quantize(self, z):
        d = jnp.sum((z[None] - self.codebook) ** 2, axis=1)
        return self.codebook[jnp.argmin(d)]

    def __call__(self, x):
        z = self.encoder(x)
        q = self.quantize(z)
        codebook_loss = jnp.sum((jax.lax.stop_gradient(z) - q) ** 2)
        commitment = jnp.sum((z - jax.lax.stop_gradient(q)) ** 2)
        z_st = jax.lax.stop_gradient(z + q - z)
        recon = self.decoder(z_st)
        return recon, codebook_loss + 0.25 * commitment


def loss_fn(model, x):
    recon, vq = jax.vmap(model)(x)
    rec = jnp.mean(jnp.sum((recon - x) ** 2, axis=1))
    return rec + jnp.mean(vq), rec


@eqx.filter_jit
def step(model, opt_state, x):
    (loss, rec), grads = eqx.filter_value_and_grad(loss_fn, has_aux=True)(model, x)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, rec


key = jr.key(0)
k_model, k_centers, k_pick, k_noise = jr.split(key, 4)
centers = 2 * jr.normal(k_centers, (12, 8))
data = centers[jr.randint(k_pick, (1024,), 0, 12)] + 0.1 * jr.normal(k_noise, (1024, 8))
model = VQVAE(8, 4, 32, k_model)
optim = optax.adam(2e-3)
opt_state = optim.init(eqx.filter(model, eqx.is_array))
for epoch in range(12):
    for i in range(0, 1024, 128):
        model, opt_state, rec = step(model, opt_state, data[i : i + 128])
    if epoch % 3 == 2:
        print(f"epoch {epoch} reconstruction {rec:.4f}")
