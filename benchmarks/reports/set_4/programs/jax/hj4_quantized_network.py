import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax


def fake_quantize(x, bits=4):
    scale = jax.lax.stop_gradient(jnp.max(jnp.abs(x))) / (2 ** (bits - 1) - 1)
    rounded = jnp.round(x / scale) * scale
    # straight-through: rounded values forward, identity backward
    return x + jax.lax.stop_gradient(rounded - x)


class QuantLinear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self, i, o, key):
        self.weight = jr.normal(key, (o, i)) / jnp.sqrt(i)
        self.bias = jnp.zeros(o)

    def __call__(self, x):
        return fake_quantize(self.weight) @ x + self.bias


class Net(eqx.Module):
    layers: list
    dropout: eqx.nn.Dropout

    def __init__(self, key):
        k1, k2, k3 = jr.split(key, 3)
        self.layers = [QuantLinear(6, 32, k1), QuantLinear(32, 32, k2), QuantLinear(32, 1, k3)]
        self.dropout = eqx.nn.Dropout(0.1)

    def __call__(self, x, key):
        for layer in self.layers[:-1]:
            x = jax.nn.relu(layer(x))
        return self.layers[-1](self.dropout(x, key=key))[0]


@eqx.filter_jit
def step(model, opt_state, x, y, key):
    def loss_fn(m):
        pred = jax.vmap(m)(x, jr.split(key, len(x)))
        return jnp.mean((pred - y) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


x = jr.normal(jr.key(1), (512, 6))
y = jnp.sin(x[:, 0]) + x[:, 1] * x[:, 2]
model = Net(jr.key(0))
optim = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-3))
opt_state = optim.init(eqx.filter(model, eqx.is_array))
for epoch in range(6):
    for i in range(0, 512, 64):
        key = jr.fold_in(jr.key(7), epoch * 512 + i)
        model, opt_state, loss = step(model, opt_state, x[i : i + 64], y[i : i + 64], key)
    print(f"epoch {epoch} loss {loss:.4f}")
