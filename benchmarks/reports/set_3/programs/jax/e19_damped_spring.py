import jax
import jax.numpy as jnp
import equinox as eqx
import optax


class Spring(eqx.Module):
    stiffness: jax.Array
    damping: float

    def __init__(self, stiffness, damping):
        self.stiffness = jnp.asarray(stiffness)
        self.damping = damping

    def __call__(self, x0, n_steps, dt=0.05):
        def body(state, _):
            x, v = state
            a = -self.stiffness * x - self.damping * v
            v = v + dt * a
            x = x + dt * v
            return (x, v), x

        _, xs = jax.lax.scan(body, (x0, jnp.zeros_like(x0)), None, length=n_steps)
        return xs


x0 = jnp.array([1.0, -0.5, 2.0])
observed = Spring(2.0, 0.7)(x0, 60)
observed = observed + 0.01 * jax.random.normal(jax.random.PRNGKey(0), observed.shape)

model = Spring(1.5, 0.1)
optimizer = optax.adam(2e-2)
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))


@eqx.filter_value_and_grad
def loss_fn(model):
    return jnp.mean((model(x0, 60) - observed) ** 2)


@eqx.filter_jit
def update(model, opt_state):
    loss, grads = loss_fn(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


for step in range(301):
    model, opt_state, loss = update(model, opt_state)
    if step % 60 == 0:
        print(f"step {step} loss {loss:.5f} stiffness {float(model.stiffness):.3f} "
              f"damping {float(model.damping):.3f}")
