import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(11)
k_obs, k_opt, k_a, k_v, k_roll = jax.random.split(key, 5)
optimal = jax.random.normal(k_opt, (4, 3))
policy = {"w": 0.1 * jax.random.normal(k_a, (4, 3)), "b": jnp.zeros(3)}
critic = {"w": 0.1 * jax.random.normal(k_v, (4, 1)), "b": jnp.zeros(1)}


def log_probs(policy, obs, actions):
    logp = jax.nn.log_softmax(obs @ policy["w"] + policy["b"])
    return logp[jnp.arange(obs.shape[0]), actions]


def values(critic, obs):
    return obs @ critic["w"] + critic["b"]


def surrogate(policy, obs, actions, old_logp, advantages):
    ratio = jnp.exp(log_probs(policy, obs, actions) - old_logp)
    clipped = jnp.clip(ratio, 0.8, 1.2)
    return -jnp.mean(jnp.minimum(ratio * advantages, clipped * advantages))


tx = optax.adam(2e-2)
opt_state = tx.init(policy)
loss_and_grad = jax.jit(jax.value_and_grad(surrogate))
for iteration in range(40):
    k_roll, k_o, k_s = jax.random.split(k_roll, 3)
    obs = jax.random.normal(k_o, (128, 4))
    actions = jax.random.categorical(k_s, obs @ policy["w"] + policy["b"])
    rewards = (actions == (obs @ optimal).argmax(-1)).astype(jnp.float32)
    advantages = rewards - values(critic, obs)[:, 0]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    old_logp = log_probs(policy, obs, actions)
    for _ in range(4):
        loss, grads = loss_and_grad(policy, obs, actions, old_logp, advantages)
        updates, opt_state = tx.update(grads, opt_state)
        policy = optax.apply_updates(policy, updates)
    critic = {"w": 0.9 * critic["w"], "b": 0.9 * critic["b"] + 0.1 * rewards.mean()}
    if iteration % 10 == 0 or iteration == 39:
        print(f"iter {iteration} loss {float(loss):.4f} mean reward {float(rewards.mean()):.3f}")
