import jax
import jax.numpy as jnp
import optax

N_OBS, N_ACT = 5, 6
key = jax.random.PRNGKey(0)
k_init, k_data, k_mask, k_best = jax.random.split(key, 4)
obs = jax.random.normal(k_data, (128, N_OBS))
legal = jax.random.bernoulli(k_mask, 0.6, (128, N_ACT)).at[:, 0].set(True)
payoff = obs @ jax.random.normal(k_best, (N_OBS, N_ACT))


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (N_OBS, 32)) * 0.4,
        "b1": jnp.zeros(32),
        "w2": jax.random.normal(k2, (32, N_ACT)) * 0.1,
    }


def policy(params, obs, legal):
    hidden = jnp.tanh(obs @ params["w1"] + params["b1"])
    logits = jnp.where(legal, hidden @ params["w2"], -1e9)
    return jax.nn.log_softmax(logits, axis=-1)


def loss_fn(params):
    log_p = policy(params, obs, legal)
    p = jnp.exp(log_p)
    value = jnp.sum(p * payoff, axis=-1)
    entropy = -jnp.sum(jnp.where(legal, p * log_p, 0.0), axis=-1)
    return -jnp.mean(value) - 0.05 * jnp.mean(entropy)


params = init(k_init)
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(params)


@jax.jit
def update(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for step in range(201):
    params, opt_state, loss = update(params, opt_state)
    if step % 40 == 0:
        print(f"step {step} loss {loss:.4f}")
