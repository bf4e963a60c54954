import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

CLASSES = 20
key = jax.random.PRNGKey(0)
k_c, k_l, k_x, k_init = jax.random.split(key, 4)
centers = 1.5 * jax.random.normal(k_c, (CLASSES, 6))
labels = jax.random.randint(k_l, (400,), 0, CLASSES)
x = centers[labels] + 0.3 * jax.random.normal(k_x, (400, 6))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(32)(x))
        return nn.softmax(nn.Dense(CLASSES)(x))


net = Net()
params = net.init(k_init, x[:1])["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.2, momentum=0.9))


@jax.jit
def train_step(state):
    def loss_fn(params):
        out = state.apply_fn({"params": params}, x)
        loss = optax.softmax_cross_entropy_with_integer_labels(out, labels).mean()
        return loss, (out.argmax(-1) == labels).mean()

    (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), loss, acc


for step in range(150):
    state, loss, acc = train_step(state)
    if step % 30 == 0 or step == 149:
        print(f"step {step} loss {float(loss):.4f} accuracy {float(acc):.3f}")
