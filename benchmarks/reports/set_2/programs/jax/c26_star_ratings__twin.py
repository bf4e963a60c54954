import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(12)
k_x, k_w, k_1, k_2 = jax.random.split(key, 4)
reviews = jax.random.normal(k_x, (500, 8))
quality = reviews @ jax.random.normal(k_w, (8,)) / 2.8
stars = 1 + jnp.digitize(quality, jnp.array([-0.9, -0.3, 0.3, 0.9]))
N_CLASSES = 5
params = {
    "w1": 0.4 * jax.random.normal(k_1, (8, 32)),
    "b1": jnp.zeros(32),
    "w2": 0.2 * jax.random.normal(k_2, (32, N_CLASSES)),
    "b2": jnp.zeros(N_CLASSES),
}


def apply(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]


def nll(params, x, y):
    logp = jax.nn.log_softmax(apply(params, x))
    return -jnp.mean(logp[jnp.arange(x.shape[0]), y - 1])


tx = optax.adam(1e-2)
opt_state = tx.init(params)


@jax.jit
def step(params, opt_state):
    loss, grads = jax.value_and_grad(nll)(params, reviews, stars)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for i in range(400):
    params, opt_state, loss = step(params, opt_state)
    if i % 80 == 0 or i == 399:
        guess = apply(params, reviews).argmax(-1) + 1
        counts = [int((guess == s).sum()) for s in range(1, 6)]
        print(f"step {i} loss {float(loss):.4f} accuracy {float((guess == stars).mean()):.3f} predicted {counts}")
