import jax
import jax.numpy as jnp
import optax

schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-2, warmup_steps=5, decay_steps=60)
key = jax.random.PRNGKey(0)
params = {"w": jax.random.normal(key, (4, 24)) * 0.5, "v": jnp.zeros((24, 1))}
x = jax.random.normal(jax.random.PRNGKey(1), (128, 4))
y = jnp.cos(x[:, :1] + x[:, 1:2])
step_count = 0
optimizer = optax.adam(learning_rate=schedule)
opt_state = optimizer.init(params)


@jax.jit
def train_step(params, opt_state):
    def loss_fn(p):
        return jnp.mean((jnp.tanh(x @ p["w"]) @ p["v"] - y) ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


while step_count < 60:
    params, opt_state, loss = train_step(params, opt_state)
    step_count += 1
    if step_count % 15 == 0:
        print(step_count, f"lr {float(schedule(step_count)):.4f} loss {float(loss):.4f}")
