import jax
import jax.numpy as jnp
import optax
import flax.linen as nn

key = jax.random.PRNGKey(1)
k_x, k_w, k_init = jax.random.split(key, 3)
readings = jax.random.normal(k_x, (512, 8)) * 6.0 + 25.0
labels = ((readings - 25.0) @ jax.random.normal(k_w, (8,)) > 0).astype(jnp.int32)
train_x, test_x = readings[:384], readings[384:]
train_y, test_y = labels[:384], labels[384:]


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.relu(nn.Dense(32)(x))
        return nn.Dense(2)(x)


model = Classifier()
variables = model.init(k_init, train_x[:2], train=False)
params, batch_stats = variables["params"], variables["batch_stats"]
optimizer = optax.adam(5e-3)
opt_state = optimizer.init(params)


@jax.jit
def train_step(params, batch_stats, opt_state, x, y):
    def loss_fn(p):
        logits, new = model.apply({"params": p, "batch_stats": batch_stats}, x, train=True,
                                  mutable=["batch_stats"])
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
        return loss, new["batch_stats"]

    (loss, new_stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), new_stats, opt_state, loss


@jax.jit
def evaluate(params, batch_stats):
    logits = model.apply({"params": params, "batch_stats": batch_stats}, test_x, train=False)
    return (logits.argmax(-1) == test_y).mean()


for epoch in range(31):
    for i in range(0, 384, 64):
        params, batch_stats, opt_state, loss = train_step(
            params, batch_stats, opt_state, train_x[i:i + 64], train_y[i:i + 64])
    if epoch % 6 == 0:
        print(f"epoch {epoch} loss {loss:.4f} test accuracy {evaluate(params, batch_stats):.3f}")
