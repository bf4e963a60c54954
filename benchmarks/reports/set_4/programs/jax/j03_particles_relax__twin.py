import jax
import jax.numpy as jnp
import optax

N, DIM, BOX = 24, 2, 6.0


def pair_energy(r, epsilon=1.0, sigma=1.0):
    x = jnp.clip(1.0 - r / sigma, 0.0)
    return 0.5 * epsilon * x**2


def total_energy(positions):
    delta = positions[:, None, :] - positions[None, :, :]
    delta = delta - BOX * jnp.round(delta / BOX)
    r = jnp.sqrt(jnp.sum(delta**2, axis=-1) + 1e-12)
    off_diagonal = 1.0 - jnp.eye(N)
    return 0.5 * jnp.sum(off_diagonal * pair_energy(r))


@jax.jit
def relax_step(positions, opt_state):
    energy, force = jax.value_and_grad(total_energy)(positions)
    updates, opt_state = optimizer.update(force, opt_state)
    positions = jnp.mod(optax.apply_updates(positions, updates), BOX)
    return positions, opt_state, energy


key = jax.random.key(3)
positions = jax.random.uniform(key, (N, DIM), maxval=BOX)
optimizer = optax.sgd(0.05, momentum=0.8)
opt_state = optimizer.init(positions)

for step in range(100):
    positions, opt_state, energy = relax_step(positions, opt_state)
    if step % 20 == 0:
        print(f"step {step} energy {energy:.5f}")
print("final positions", positions[:3])
