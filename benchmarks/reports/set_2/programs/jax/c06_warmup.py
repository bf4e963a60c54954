import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k_x, k_w, k_i = jax.random.split(key, 3)
features = jax.random.normal(k_x, (200, 8))
targets = features @ jax.random.normal(k_w, (8,)) + 0.5

schedule = optax.warmup_cosine_decay_schedule(
    init_value=1e-6, peak_value=5e-2, warmup_steps=30, decay_steps=300, end_value=1e-4
)
optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=schedule)
params = {"w": 0.1 * jax.random.normal(k_i, (8,)), "b": jnp.zeros(())}
opt_state = optimizer.init(params)


def mse(params):
    return jnp.mean((features @ params["w"] + params["b"] - targets) ** 2)


@jax.jit
def train_step(params, opt_state):
    loss, grads = jax.value_and_grad(mse)(params)
    updates, new_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), new_state, loss


for step in range(300):
    params, new_state, loss = train_step(params, opt_state)
    lr = new_state.hyperparams["learning_rate"]
    if step % 60 == 0 or step == 299:
        print(f"step {step} loss {float(loss):.5f} lr {float(lr):.6f}")
