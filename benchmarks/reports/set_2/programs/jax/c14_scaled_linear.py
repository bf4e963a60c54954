import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class ExpDecay(eqx.Module):
    amplitude: float
    rate: float
    drift: eqx.nn.Linear

    def __init__(self, amplitude, rate, key):
        self.amplitude = amplitude
        self.rate = rate
        self.drift = eqx.nn.Linear(1, 1, key=key)

    def __call__(self, t):
        return self.amplitude * jnp.exp(-self.rate * t) + self.drift(t[None])[0]


times = jnp.linspace(0.0, 4.0, 80)
noise = 0.01 * jax.random.normal(jax.random.PRNGKey(9), (80,))
observed = 2.5 * jnp.exp(-1.8 * times) + 0.1 * times + noise


@eqx.filter_value_and_grad
def loss_fn(model):
    return jnp.mean((jax.vmap(model)(times) - observed) ** 2)


model = ExpDecay(1.0, 0.5, key=jax.random.PRNGKey(0))
optim = optax.adam(2e-2)
opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))


@eqx.filter_jit
def make_step(model, opt_state):
    loss, grads = loss_fn(model)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


for step in range(500):
    model, opt_state, loss = make_step(model, opt_state)
    if step % 100 == 0 or step == 499:
        print(f"step {step} loss {float(loss):.5f} amplitude {float(model.amplitude):.3f} rate {float(model.rate):.3f}")
