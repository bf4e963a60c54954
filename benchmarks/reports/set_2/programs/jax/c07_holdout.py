import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

key = jax.random.PRNGKey(3)
k_x, k_w, k_init = jax.random.split(key, 3)
x_all = jax.random.normal(k_x, (400, 6))
y_all = (x_all @ jax.random.normal(k_w, (6, 3))).argmax(-1)
x_train, y_train, x_test, y_test = x_all[:300], y_all[:300], x_all[300:], y_all[300:]


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(32)(x)))


model = MLP()
params = model.init(k_init, x_train[:1])["params"]
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))


@jax.jit
def train_step(state, x, y):
    def loss_fn(p):
        logits = state.apply_fn({"params": p}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def eval_step(state, x, y):
    logits = state.apply_fn({"params": params}, x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    return loss, (logits.argmax(-1) == y).mean()


for epoch in range(120):
    state, loss = train_step(state, x_train, y_train)
    if epoch % 30 == 0 or epoch == 119:
        test_loss, acc = eval_step(state, x_test, y_test)
        print(f"epoch {epoch} train {float(loss):.4f} test {float(test_loss):.4f} acc {float(acc):.3f}")
