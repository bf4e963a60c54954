import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(24, name="base")(x))
        return nn.Dense(3, name="head")(x)


x = jax.random.normal(jax.random.PRNGKey(0), (200, 5))
y = jnp.argmax(x @ jax.random.normal(jax.random.PRNGKey(1), (5, 3)), axis=1)
net = Net()
params = net.init(jax.random.PRNGKey(2), x)["params"]
labels = {"base": "frozen", "head": "trained"}
optimizer = optax.multi_transform({"frozen": optax.set_to_zero(), "trained": optax.adam(2e-2)}, labels)
state = optimizer.init(params)


@jax.jit
def step(params, state):
    def loss_fn(p):
        return optax.softmax_cross_entropy_with_integer_labels(net.apply({"params": p}, x), y).mean()
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


for i in range(40):
    params, state, loss = step(params, state)
    if i % 10 == 9:
        print(i + 1, float(loss))
