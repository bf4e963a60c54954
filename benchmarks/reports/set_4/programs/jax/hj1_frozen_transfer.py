import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import traverse_util


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(64, name="backbone")(x))
        x = nn.relu(nn.Dense(32, name="neck")(x))
        return nn.Dense(4, name="head")(x)


key = jax.random.key(0)
k1, k2, k3, k4 = jax.random.split(key, 4)
y = jax.random.randint(k1, (512,), 0, 4)
x = jax.random.normal(k2, (4, 10))[y] + 0.6 * jax.random.normal(k3, (512, 10))
params = Net().init(k4, x[:1])["params"]

# the backbone stays as it was pretrained, the head learns faster than the neck
groups = {"backbone": "frozen", "neck": "slow", "head": "fast"}
labels = traverse_util.path_aware_map(lambda path, _: groups[path[0]], params)
tx = optax.multi_transform(
    {"frozen": optax.set_to_zero(), "slow": optax.adam(5e-4), "fast": optax.adam(5e-3)}, labels
)
opt_state = tx.init(params)


@jax.jit
def step(params, opt_state, xb, yb):
    def loss_fn(p):
        logits = Net().apply({"params": p}, xb)
        return optax.softmax_cross_entropy_with_integer_labels(logits, yb).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for epoch in range(6):
    for i in range(0, 512, 64):
        params, opt_state, loss = step(params, opt_state, x[i : i + 64], y[i : i + 64])
    print(f"epoch {epoch} loss {loss:.4f}")
