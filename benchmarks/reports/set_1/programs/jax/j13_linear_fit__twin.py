import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
x = jax.random.normal(key, (150, 5))
true_w = jnp.array([1.0, -2.0, 0.5, 0.0, 3.0])
y = x @ true_w + 0.05 * jax.random.normal(jax.random.PRNGKey(1), (150,))
w = jnp.zeros(5)


def loss_fn(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


value_and_gradient = jax.jit(jax.value_and_grad(loss_fn))


def update(w, x, y, lr=0.03):
    loss, grad = value_and_gradient(w, x, y)
    return w - lr * grad, loss


for step in range(50):
    rows = jax.random.randint(jax.random.PRNGKey(step), (32,), 0, 150)
    w, loss = update(w, x[rows], y[rows])
    if step % 10 == 9:
        print(step + 1, w)
