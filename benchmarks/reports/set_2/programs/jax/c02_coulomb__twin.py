import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(4)
k_pos, k_true = jax.random.split(key)
positions = jax.random.normal(k_pos, (5, 3)) * 2.0
true_charges = jnp.array([1.0, -0.5, 0.3, 0.8, -1.2])
offdiag = 1.0 - jnp.eye(5)


def pair_energy(conf, charges):
    delta = conf[:, None, :] - conf[None, :, :]
    squared = jnp.where(offdiag > 0, jnp.sum(delta**2, axis=-1), 1.0)
    inverse = jnp.where(offdiag > 0, 1.0 / jnp.sqrt(squared), 0.0)
    return 0.5 * jnp.sum(charges[:, None] * charges[None, :] * inverse)


target = pair_energy(positions, true_charges)


def objective(conf):
    return (pair_energy(conf, true_charges) - (target + 0.6)) ** 2


tx = optax.adam(2e-2)
conf, opt_state = positions, tx.init(positions)


@jax.jit
def relax(conf, opt_state):
    value, grads = jax.value_and_grad(objective)(conf)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(conf, updates), opt_state, value, grads


for step in range(120):
    conf, opt_state, value, grads = relax(conf, opt_state)
    if step % 30 == 0 or step == 119:
        print(f"step {step} objective {float(value):.5f} |grad| {float(jnp.linalg.norm(grads)):.5f}")
