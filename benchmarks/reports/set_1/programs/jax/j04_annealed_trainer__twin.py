from functools import partial

import jax
import jax.numpy as jnp
import optax


class Trainer:
    def __init__(self, key):
        self.kl_weight = 0.0
        self.optimizer = optax.adam(2e-2)
        self.params = {"mean": jax.random.normal(key, (5,)) + 3.0, "log_std": jnp.zeros(5)}
        self.state = self.optimizer.init(self.params)

    def loss(self, params, noise, data, kl_weight):
        sample = params["mean"] + jnp.exp(params["log_std"]) * noise
        fit = jnp.mean((sample - data) ** 2)
        kl = 0.5 * jnp.sum(params["mean"] ** 2 + jnp.exp(2 * params["log_std"]) - 1 - 2 * params["log_std"])
        return fit + kl_weight * kl, kl

    @partial(jax.jit, static_argnums=0)
    def step(self, params, state, noise, data, kl_weight):
        (loss, kl), grads = jax.value_and_grad(self.loss, has_aux=True)(params, noise, data, kl_weight)
        updates, state = self.optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, loss, kl


trainer = Trainer(jax.random.PRNGKey(0))
data = jnp.full((5,), 2.5)
for i in range(60):
    trainer.kl_weight = min(1.0, i / 20)
    noise = jax.random.normal(jax.random.PRNGKey(i), (5,))
    trainer.params, trainer.state, loss, kl = trainer.step(trainer.params, trainer.state, noise, data, trainer.kl_weight)
    if i % 15 == 14:
        print(i + 1, f"weight {trainer.kl_weight:.2f} loss {float(loss):.3f} kl {float(kl):.3f}")
