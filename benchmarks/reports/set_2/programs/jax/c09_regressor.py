import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k_x, k_w, k_init, dropout_key = jax.random.split(key, 4)
x = jax.random.normal(k_x, (256, 5))
y = jnp.sin(0.5 * (x @ jax.random.normal(k_w, (5, 1))))


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.tanh(nn.Dense(256, name="body")(x))
        x = nn.Dropout(0.5, broadcast_dims=(0,), deterministic=not train)(x)
        return nn.Dense(1, name="head")(x)


net = Regressor()
params = net.init({"params": k_init}, x[:1], train=False)["params"]
tx = optax.adam(3e-3)
opt_state = tx.init(params)


@jax.jit
def train_step(params, opt_state, rng):
    def loss_fn(p):
        pred = net.apply({"params": p}, x, train=True, rngs={"dropout": rng})
        return jnp.mean((pred - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, grads


touched = jnp.zeros(256, bool)
for step in range(400):
    params, opt_state, loss, grads = train_step(params, opt_state, dropout_key)
    touched = touched | (jnp.abs(grads["head"]["kernel"][:, 0]) > 0)
    if step % 100 == 0 or step == 399:
        pred = net.apply({"params": params}, x, train=False)
        val = jnp.mean((pred - y) ** 2)
        print(f"step {step} train {float(loss):.4f} eval {float(val):.4f} units trained {int(touched.sum())}/256")
