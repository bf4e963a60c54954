import equinox as eqx
import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
mkey, xkey = jax.random.split(key)
model = eqx.nn.MLP(4, 1, 16, 2, key=mkey)
x = jax.random.normal(xkey, (128, 4))
y = jnp.sum(x ** 2, axis=1, keepdims=True)
optim = optax.adamw(1e-2, weight_decay=1e-3)
opt_state = optim.init(eqx.filter(model, eqx.is_array))


@eqx.filter_value_and_grad
def loss_fn(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit
def make_step(model, x, y, opt_state):
    loss, grads = loss_fn(model, x, y)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    model = eqx.apply_updates(model, updates)
    return loss, model, opt_state


for step in range(30):
    loss, model, opt_state = make_step(model, x, y, opt_state)
    if step % 10 == 0:
        print(step, float(loss))
