import jax
import jax.numpy as jnp
import optax

LIMIT = jnp.pi / 2
lengths = jnp.array([1.0, 0.8, 0.5])
goals = jnp.array([[1.2, 1.1], [0.3, 1.9], [2.3, 0.0], [-0.4, 1.7], [4.0, 0.5]])
reachable = jnp.linalg.norm(goals, axis=1) < 2.5


def safe_norm(v):
    squared = jnp.sum(v**2, axis=-1)
    zero = squared == 0.0
    return jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, squared)))


def tip(angles):
    heading = jnp.cumsum(angles, axis=-1)
    return jnp.stack([jnp.sum(lengths * jnp.cos(heading), -1), jnp.sum(lengths * jnp.sin(heading), -1)], -1)


def cost(angles):
    bounded = LIMIT * jnp.tanh(angles / LIMIT)
    miss = jnp.where(reachable, safe_norm(tip(bounded) - goals), 0.0)
    return jnp.sum(miss**2), miss


tx = optax.adam(5e-2)
angles = 0.3 * jax.random.normal(jax.random.PRNGKey(0), (5, 3)) + 0.4
angles = angles.at[2].set(0.0)
opt_state = tx.init(angles)


@jax.jit
def step(angles, opt_state):
    (loss, miss), grads = jax.value_and_grad(cost, has_aux=True)(angles)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(angles, updates), opt_state, loss, grads


for i in range(300):
    angles, opt_state, loss, grads = step(angles, opt_state)
    if i % 60 == 0 or i == 299:
        rows = [round(float(r), 4) for r in jnp.linalg.norm(grads, axis=1)]
        print(f"step {i} cost {float(loss):.5f} grad per goal {rows}")
