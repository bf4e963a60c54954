import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class FourierNet(eqx.Module):
    frequencies: jax.Array
    mlp: eqx.nn.MLP

    def __init__(self, key):
        self.frequencies = 2.0 ** jnp.arange(4.0)
        self.mlp = eqx.nn.MLP(8, "scalar", 32, 2, key=key)

    def __call__(self, x):
        phase = x * jax.lax.stop_gradient(self.frequencies)
        return self.mlp(jnp.concatenate([jnp.sin(phase), jnp.cos(phase)]))


model = FourierNet(jax.random.PRNGKey(0))
x = jnp.linspace(-1, 1, 128)
y = jnp.sign(jnp.sin(5 * x)) * 0.5
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))


@eqx.filter_value_and_grad
def loss_fn(model):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit
def step(model, opt_state):
    loss, grads = loss_fn(model)
    updates, opt_state = optimizer.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


for i in range(60):
    model, opt_state, loss = step(model, opt_state)
    if i % 15 == 0:
        print(i, float(loss))
print("fixed frequencies:", model.frequencies)
