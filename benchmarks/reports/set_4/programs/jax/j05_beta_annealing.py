from functools import partial

import jax
import jax.numpy as jnp
import optax


def dense_init(key, i, o):
    return {"w": jax.random.normal(key, (i, o)) * (2.0 / i) ** 0.5, "b": jnp.zeros(o)}


class Trainer:
    def __init__(self, data, latent=2, lr=3e-3):
        self.data = data
        self.latent = latent
        self.beta = 0.0
        self.tx = optax.adam(lr)

    def init(self, key):
        d = self.data.shape[1]
        k1, k2, k3 = jax.random.split(key, 3)
        params = {
            "enc": dense_init(k1, d, 32),
            "stats": dense_init(k2, 32, 2 * self.latent),
            "dec": dense_init(k3, self.latent, d),
        }
        return params, self.tx.init(params)

    def loss(self, params, x, key, beta):
        h = jax.nn.relu(x @ params["enc"]["w"] + params["enc"]["b"])
        mu, logvar = jnp.split(h @ params["stats"]["w"] + params["stats"]["b"], 2, axis=1)
        z = mu + jnp.exp(0.5 * logvar) * jax.random.normal(key, mu.shape)
        recon = z @ params["dec"]["w"] + params["dec"]["b"]
        rec = jnp.sum((recon - x) ** 2, axis=1).mean()
        kl = -0.5 * jnp.sum(1 + logvar - mu**2 - jnp.exp(logvar), axis=1).mean()
        return rec + beta * kl, (rec, kl)

    @partial(jax.jit, static_argnums=0)
    def step(self, params, opt_state, x, key):
        grad_fn = jax.value_and_grad(self.loss, has_aux=True)
        (_, metrics), grads = grad_fn(params, x, key, self.beta)
        updates, opt_state = self.tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, metrics


key = jax.random.key(0)
factors = jax.random.normal(key, (512, 2))
data = factors @ jax.random.normal(jax.random.key(1), (2, 10))
trainer = Trainer(data)
params, opt_state = trainer.init(jax.random.key(2))
for epoch in range(12):
    trainer.beta = min(1.0, epoch / 6)
    for start in range(0, 512, 64):
        key, sub = jax.random.split(key)
        params, opt_state, (rec, kl) = trainer.step(params, opt_state, data[start : start + 64], sub)
    if epoch % 3 == 2:
        print(f"epoch {epoch} beta {trainer.beta:.2f} rec {rec:.3f} kl {kl:.3f}")
