import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import traverse_util


class Backbone(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(64)(x))
        return nn.relu(nn.Dense(32)(x))


class Classifier(nn.Module):
    classes: int

    def setup(self):
        self.backbone = Backbone()
        self.head = nn.Dense(self.classes)

    def __call__(self, x):
        return self.head(self.backbone(x))


key = jax.random.key(0)
k_init, k_y, k_c, k_n = jax.random.split(key, 4)
y = jax.random.randint(k_y, (640,), 0, 5)
x = jax.random.normal(k_c, (5, 12))[y] + 0.7 * jax.random.normal(k_n, (640, 12))

model = Classifier(5)
params = model.init(k_init, x[:1])["params"]
flat = traverse_util.flatten_dict(params)
trainable = traverse_util.unflatten_dict({path: path[0] == "head" for path in flat})
frozen = jax.tree.map(lambda t: not t, trainable)

tx = optax.chain(
    optax.clip_by_global_norm(5.0),
    optax.masked(optax.adam(1e-2), trainable),
    optax.masked(optax.set_to_zero(), frozen),
)
opt_state = tx.init(params)


def loss_fn(params, xb, yb):
    logits = model.apply({"params": params}, xb)
    return optax.softmax_cross_entropy_with_integer_labels(logits, yb).mean()


@jax.jit
def train_step(params, opt_state, xb, yb):
    loss, grads = jax.value_and_grad(loss_fn)(params, xb, yb)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


before = params["backbone"]["Dense_0"]["kernel"]
for epoch in range(8):
    for i in range(0, 640, 64):
        params, opt_state, loss = train_step(params, opt_state, x[i : i + 64], y[i : i + 64])
    moved = jnp.abs(params["backbone"]["Dense_0"]["kernel"] - before).max()
    print(f"epoch {epoch} loss {loss:.4f} backbone moved {moved:.4f}")
