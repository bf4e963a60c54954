import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k_x, k_w, k_init = jax.random.split(key, 3)
signals = 5.0 + 3.0 * jax.random.normal(k_x, (256, 10))
labels = ((signals - 5.0) @ jax.random.normal(k_w, (10,)) > 0).astype(jnp.int32)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(32)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        return nn.Dense(2)(nn.relu(x))


net = Net()
variables = net.init(k_init, signals[:2], train=False)
params, batch_stats = variables["params"], variables["batch_stats"]
tx = optax.adam(1e-2)
opt_state = tx.init(params)


@jax.jit
def train_step(params, batch_stats, opt_state, x, y):
    def loss_fn(p):
        logits, mutated = net.apply(
            {"params": p, "batch_stats": batch_stats}, x, train=True, mutable=["batch_stats"]
        )
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), mutated

    (loss, mutated), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), mutated["batch_stats"], opt_state, loss


for step in range(100):
    idx = jax.random.randint(jax.random.PRNGKey(step), (64,), 0, 256)
    params, batch_stats, opt_state, loss = train_step(params, batch_stats, opt_state, signals[idx], labels[idx])
    if step % 25 == 0 or step == 99:
        logits = net.apply({"params": params, "batch_stats": batch_stats}, signals, train=False)
        val = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        acc = (logits.argmax(-1) == labels).mean()
        print(f"step {step} train {float(loss):.4f} val {float(val):.4f} acc {float(acc):.3f}")
