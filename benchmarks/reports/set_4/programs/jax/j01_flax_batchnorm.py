import functools
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(32)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.relu(x)
        return nn.Dense(3)(x)


key = jax.random.key(0)
k_init, k_data, k_noise, k_centers = jax.random.split(key, 4)
labels = jax.random.randint(k_data, (512,), 0, 3)
centers = jax.random.normal(k_centers, (3, 8))
inputs = 20.0 + 5.0 * (centers[labels] + 0.5 * jax.random.normal(k_noise, (512, 8)))

model = Net()
variables = model.init(k_init, inputs[:2], train=False)
params, batch_stats = variables["params"], variables["batch_stats"]
tx = optax.adam(3e-3)
opt_state = tx.init(params)


@jax.jit
def train_step(params, batch_stats, opt_state, x, y):
    def loss_fn(p):
        logits, updates = model.apply(
            {"params": p, "batch_stats": batch_stats}, x, train=True, mutable=["batch_stats"]
        )
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
        return loss, updates["batch_stats"]

    (loss, new_stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, batch_stats, opt_state, loss


@functools.partial(jax.jit, static_argnames="train")
def predict(params, batch_stats, x, train=False):
    return model.apply({"params": params, "batch_stats": batch_stats}, x, train=train)


for epoch in range(6):
    for i in range(0, 512, 64):
        xb, yb = inputs[i : i + 64], labels[i : i + 64]
        params, batch_stats, opt_state, loss = train_step(params, batch_stats, opt_state, xb, yb)
    accuracy = (predict(params, batch_stats, inputs).argmax(-1) == labels).mean()
    print(f"epoch {epoch} loss {loss:.4f} eval accuracy {accuracy:.3f}")
