import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(2)
k_a, k_v, k_best, key = jax.random.split(key, 4)
best = jax.random.normal(k_best, (4, 3)) * 2.0


def mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) / jnp.sqrt(m), jnp.zeros(n))
            for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def forward(layers, x):
    for w, b in layers[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


params = {"pi": mlp(k_a, (4, 32, 3)), "v": mlp(k_v, (4, 32, 1))}
optimizer = optax.adam(5e-3)
opt_state = optimizer.init(params)


def loss_fn(params, obs, actions, returns):
    log_probs = jax.nn.log_softmax(forward(params["pi"], obs))
    log_prob = jnp.take_along_axis(log_probs, actions[:, None], axis=1)[:, 0]
    value = forward(params["v"], obs)[:, 0]
    advantage = jax.lax.stop_gradient(returns - value)
    pi_loss = -jnp.mean(log_prob * advantage)
    v_loss = 0.5 * jnp.mean((returns - value) ** 2)
    entropy = -jnp.mean(jnp.sum(jnp.exp(log_probs) * log_probs, axis=1))
    return pi_loss + 0.25 * v_loss - 0.1 * entropy, (value, entropy)


@jax.jit
def update(params, opt_state, key):
    k_obs, k_act = jax.random.split(key)
    obs = jax.random.normal(k_obs, (256, 4))
    actions = jax.random.categorical(k_act, forward(params["pi"], obs))
    returns = (jnp.argmax(obs @ best, axis=1) == actions).astype(jnp.float32)
    (loss, (value, entropy)), grads = jax.value_and_grad(loss_fn, has_aux=True)(
        params, obs, actions, returns)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, returns.mean(), value.mean()


for step in range(401):
    key, sub = jax.random.split(key)
    params, opt_state, loss, ret, val = update(params, opt_state, sub)
    if step % 80 == 0:
        print(f"step {step} loss {loss:.3f} return {ret:.3f} predicted {val:.3f}")
