import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Net(eqx.Module):
    first: eqx.nn.Linear
    drop: eqx.nn.Dropout
    second: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.first, self.second = eqx.nn.Linear(6, 32, key=a), eqx.nn.Linear(32, "scalar", key=b)
        self.drop = eqx.nn.Dropout(0.2)

    def __call__(self, x, key=None):
        return self.second(self.drop(jax.nn.relu(self.first(x)), key=key))


x = jax.random.normal(jax.random.PRNGKey(0), (160, 6))
y = x[:, 0] - jnp.abs(x[:, 1])
model = Net(jax.random.PRNGKey(1))
optimizer = optax.adam(1e-2)
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))


@eqx.filter_jit
def step(model, state, key):
    def loss_fn(model):
        prediction = jax.vmap(model)(x, jax.random.split(key, len(x)))
        return jnp.mean((prediction - y) ** 2)
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, state = optimizer.update(grads, state)
    return eqx.apply_updates(model, updates), state, loss


key = jax.random.PRNGKey(2)
for i in range(45):
    key, subkey = jax.random.split(key)
    model, state, loss = step(model, state, subkey)
    if i % 15 == 14:
        evaluated = eqx.nn.inference_mode(model)
        print(i + 1, float(loss), float(jnp.mean((jax.vmap(evaluated)(x) - y) ** 2)))
