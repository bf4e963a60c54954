import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
w = jax.random.normal(key, (6,)) * 0.5
x = jax.random.normal(jax.random.PRNGKey(1), (400, 6))
y = x @ jnp.arange(1.0, 7.0)
outliers = jax.random.bernoulli(jax.random.PRNGKey(2), 0.01, (400,))
y = jnp.where(outliers, y * 400.0, y)

optimizer = optax.chain(optax.clip_by_global_norm(2.0), optax.sgd(0.03, momentum=0.9))
opt_state = optimizer.init(w)


def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def step(w, opt_state, x, y):
    loss, grad = jax.value_and_grad(loss_fn)(w, x, y)
    updates, opt_state = optimizer.update(grad, opt_state, w)
    return optax.apply_updates(w, updates), opt_state, loss


for i in range(50):
    rows = jax.random.randint(jax.random.PRNGKey(100 + i), (20,), 0, 400)
    w, opt_state, loss = step(w, opt_state, x[rows], y[rows])
    if i % 10 == 9:
        print(i + 1, "error", float(jnp.abs(w - jnp.arange(1.0, 7.0)).mean()))
