import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(8)
k_x, k_w, k_init = jax.random.split(key, 3)
x = jax.random.normal(k_x, (256, 8))
y = (x @ jax.random.normal(k_w, (8, 3))).argmax(-1)


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = jnp.tanh(nn.Dense(64, name="backbone")(x))
        return nn.Dense(3, name="head")(x)


net = Classifier()
params = net.init(k_init, x[:1])["params"]
trainable = {
    "backbone": jax.tree.map(lambda _: False, params["backbone"]),
    "head": jax.tree.map(lambda _: True, params["head"]),
}
tx = optax.masked(optax.adam(1e-2), trainable)
opt_state = tx.init(params)


def loss_fn(params):
    logits = net.apply({"params": params}, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


@jax.jit
def step(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


initial = params["backbone"]["kernel"]
for i in range(400):
    params, opt_state, loss = step(params, opt_state)
    if i % 80 == 0 or i == 399:
        drift = jnp.linalg.norm(params["backbone"]["kernel"] - initial)
        print(f"step {i} loss {float(loss):.4f} backbone drift {float(drift):.4f}")
