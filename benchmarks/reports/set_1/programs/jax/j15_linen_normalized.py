import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(32)(x)
        x = nn.BatchNorm(use_running_average=train, momentum=0.9)(x)
        x = nn.relu(x)
        return nn.Dense(2)(x)


key = jax.random.PRNGKey(0)
x = 5.0 + 3.0 * jax.random.normal(key, (256, 6))
y = (x[:, 0] > x[:, 1]).astype(jnp.int32)
net = Net()
variables = net.init(jax.random.PRNGKey(1), x, train=False)
params, stats = variables["params"], variables["batch_stats"]
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(params)


@jax.jit
def step(params, stats, opt_state, x, y):
    def loss_fn(p):
        logits, new = net.apply({"params": p, "batch_stats": stats}, x, train=True, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), new["batch_stats"]
    (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), stats, opt_state, loss


for i in range(40):
    params, stats, opt_state, loss = step(params, stats, opt_state, x, y)
    if i % 10 == 9:
        print(i + 1, float(loss), float(stats["BatchNorm_0"]["mean"].mean()))
