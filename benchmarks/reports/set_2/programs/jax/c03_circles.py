import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 256)
labels = rng.integers(0, 2, 256)
radius = np.where(labels == 1, 0.5, 1.2) + 0.05 * rng.normal(size=256)
points = jnp.asarray(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1), jnp.float32)
labels = jnp.asarray(labels, jnp.float32)


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(24)(x))
        x = nn.relu(nn.Dense(24)(x))
        return nn.Dense(1)(x)


net = Classifier()
params = net.init(jax.random.PRNGKey(1), points[:1])
tx = optax.adam(1e-2)
opt_state = tx.init(params)


def loss_fn(params, x, y):
    logits = net.apply(params, x)
    return optax.sigmoid_binary_cross_entropy(logits, y).mean()


@jax.jit
def step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for epoch in range(200):
    params, opt_state, loss = step(params, opt_state, points, labels)
    if epoch % 50 == 0 or epoch == 199:
        guess = (net.apply(params, points)[:, 0] > 0).astype(jnp.float32)
        print(f"epoch {epoch} loss {float(loss):.4f} accuracy {float((guess == labels).mean()):.3f}")
