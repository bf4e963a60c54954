import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k_x, k_w, k_n, k_i = jax.random.split(key, 4)
x = jax.random.normal(k_x, (60, 40))
true_w = jnp.where(jnp.arange(40) < 5, 1.0, 0.0)
y = x @ true_w + 0.1 * jax.random.normal(k_n, (60,))
params = {"w1": 0.15 * jax.random.normal(k_i, (40, 32)), "w2": jnp.ones((32,)) / 32}

learning_rate, weight_decay = 3e-3, 1e-2
tx = optax.chain(
    optax.scale_by_adam(),
    optax.add_decayed_weights(weight_decay),
    optax.scale(-learning_rate),
)
opt_state = tx.init(params)


def loss_fn(params):
    hidden = jnp.tanh(x @ params["w1"])
    return jnp.mean((hidden @ params["w2"] - y) ** 2)


@jax.jit
def step(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for i in range(600):
    params, opt_state, loss = step(params, opt_state)
    if i % 100 == 0 or i == 599:
        print(f"step {i} loss {float(loss):.4f} weight norm {float(optax.global_norm(params)):.3f}")
