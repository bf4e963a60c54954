import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(24)(x))
        return nn.Dense(1)(x)


x = jax.random.normal(jax.random.PRNGKey(0), (128, 3))
y = jnp.sum(jnp.sin(2 * x), axis=1, keepdims=True)
model = MLP()
params = model.init(jax.random.PRNGKey(1), x)["params"]
tx = optax.chain(optax.scale_by_adam(), optax.scale(-2e-2))
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, x) - y) ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


for step in range(40):
    state, loss = train_step(state, x, y)
    if step % 8 == 7:
        print(step + 1, float(loss))
