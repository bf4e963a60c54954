import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

rng = np.random.default_rng(0)


class HousePrices(nn.Module):
    features: tuple = (64, 64)

    @nn.compact
    def __call__(self, x):
        for width in self.features:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(1)(x)


area = rng.uniform(30, 200, 600)
rooms = rng.integers(1, 7, 600)
age = rng.uniform(0, 80, 600)
price = 2.0 * area + 15.0 * rooms - 0.8 * age + rng.normal(0, 10, 600)
x = np.stack([area, rooms, age], axis=1)
x = ((x - x.mean(0)) / x.std(0)).astype(np.float32)
y = ((price - price.mean()) / price.std()).astype(np.float32)

model = HousePrices()
state = TrainState.create(
    apply_fn=model.apply,
    params=model.init(jax.random.key(0), x[:1])["params"],
    tx=optax.adamw(2e-3),
)


@jax.jit
def train_step(state, xb, yb):
    def loss_fn(params):
        pred = state.apply_fn({"params": params}, xb)
        return jnp.mean((pred[:, 0] - yb) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


for epoch in range(15):
    order = rng.permutation(len(x))
    losses = []
    for start in range(0, len(x), 60):
        idx = order[start : start + 60]
        state, loss = train_step(state, x[idx], y[idx])
        losses.append(float(loss))
    if epoch % 5 == 4:
        pred = np.asarray(model.apply({"params": state.params}, x))[:, 0]
        print(f"epoch {epoch} loss {np.mean(losses):.4f} corr {np.corrcoef(pred, y)[0, 1]:.3f}")
