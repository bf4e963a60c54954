import jax
import jax.numpy as jnp
import optax

SIGMA = 0.8
root = jax.random.PRNGKey(0)
k_init, k_freq, k_noise, k_eval = jax.random.split(root, 4)
t = jnp.linspace(0.0, 6.28, 32)
freq = jax.random.randint(k_freq, (48, 1), 1, 4).astype(jnp.float32)
shift = jax.random.uniform(k_freq, (48, 1)) * 6.28
clean = jnp.sin(freq * t + shift)


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (32, 128)) * 0.15,
        "b1": jnp.zeros(128),
        "w2": jax.random.normal(k2, (128, 32)) * 0.05,
        "b2": jnp.zeros(32),
    }


def denoise(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]


def loss_fn(params, key):
    noise = jax.random.normal(key, clean.shape)
    noisy = clean + SIGMA * noise
    return jnp.mean((denoise(params, noisy) - clean) ** 2)


params = init(k_init)
optimizer = optax.adam(3e-3)
opt_state = optimizer.init(params)


@jax.jit
def update(params, opt_state, key):
    loss, grads = jax.value_and_grad(loss_fn)(params, key)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for step in range(801):
    step_key = k_noise
    params, opt_state, loss = update(params, opt_state, step_key)
    if step % 160 == 0:
        held_out = loss_fn(params, jax.random.fold_in(k_eval, step))
        print(f"step {step} loss {loss:.5f} held out {held_out:.5f}")
