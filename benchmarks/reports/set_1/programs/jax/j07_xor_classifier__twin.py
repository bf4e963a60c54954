import equinox as eqx
import jax
import jax.numpy as jnp
import optax

mkey, xkey = jax.random.split(jax.random.PRNGKey(3))
model = eqx.nn.MLP(3, 2, 24, 1, key=mkey)
x = jax.random.normal(xkey, (150, 3))
labels = (x[:, 0] * x[:, 1] > 0).astype(jnp.int32)
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))


@eqx.filter_jit
def compute(model, x, labels):
    def loss_fn(model):
        logits = jax.vmap(model)(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return eqx.filter_value_and_grad(loss_fn)(model)


for epoch in range(40):
    loss, grads = compute(model, x, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    model = eqx.apply_updates(model, updates)
    if epoch % 10 == 0:
        print(epoch, f"{float(loss):.4f}")
