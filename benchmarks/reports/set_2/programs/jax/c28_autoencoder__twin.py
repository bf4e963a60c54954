import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

key = jax.random.PRNGKey(21)
k_z, k_m, k_init = jax.random.split(key, 3)
images = jax.nn.sigmoid(jax.random.normal(k_z, (128, 3)) @ jax.random.normal(k_m, (3, 25)))


class AutoEncoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        z = nn.Dense(4, name="encoder")(x)
        return nn.Dense(25, name="decoder")(nn.tanh(z))


def create_state(rng):
    module = AutoEncoder()
    params = module.init(rng, images[:1])["params"]
    return train_state.TrainState.create(apply_fn=module.apply, params=params, tx=optax.adam(1e-2))


@jax.jit
def gradient_of(state, batch):
    def loss_fn(params):
        recon = state.apply_fn({"params": params}, batch)
        return optax.l2_loss(recon, batch).mean()

    return jax.value_and_grad(loss_fn)(state.params)


state = create_state(k_init)
for epoch in range(60):
    for start in range(0, 128, 32):
        loss, grads = gradient_of(state, images[start : start + 32])
        state = state.apply_gradients(grads=grads)
    if epoch % 12 == 0 or epoch == 59:
        print(f"epoch {epoch} loss {float(loss):.5f} grad norm {float(optax.global_norm(grads)):.5f}")
