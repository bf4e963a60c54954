import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k_x, k_1, k_2, k_perm = jax.random.split(key, 4)
inputs = jax.random.uniform(k_x, (640, 2), minval=-1.5, maxval=1.5)
targets = jnp.sin(2.0 * inputs[:, 0]) + inputs[:, 1] ** 2
params = {
    "w1": jax.random.normal(k_1, (2, 32)),
    "b1": jnp.zeros(32),
    "w2": 0.2 * jax.random.normal(k_2, (32,)),
    "b2": jnp.zeros(()),
}
num_epochs, batch_size = 20, 32
steps_per_epoch = inputs.shape[0] // batch_size
schedule = optax.cosine_decay_schedule(init_value=2e-2, decay_steps=num_epochs * steps_per_epoch)
tx = optax.adam(schedule)
opt_state = tx.init(params)


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] + params["b2"] - y) ** 2)


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for epoch in range(num_epochs):
    k_perm, sub = jax.random.split(k_perm)
    order = jax.random.permutation(sub, inputs.shape[0])
    total = 0.0
    for b in range(steps_per_epoch):
        idx = order[b * batch_size : (b + 1) * batch_size]
        params, opt_state, loss = train_step(params, opt_state, inputs[idx], targets[idx])
        total += float(loss)
    if epoch % 4 == 0 or epoch == num_epochs - 1:
        print(f"epoch {epoch} loss {total / steps_per_epoch:.5f}")
