import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax


class TwoTower(eqx.Module):
    query: eqx.nn.MLP
    item: eqx.nn.MLP
    log_scale: jax.Array

    def __init__(self, dim, key):
        k1, k2 = jr.split(key)
        self.query = eqx.nn.MLP(dim, 16, 32, 1, key=k1)
        self.item = eqx.nn.MLP(dim, 16, 32, 1, key=k2)
        self.log_scale = 0.0

    def __call__(self, q, i):
        zq = jax.vmap(self.query)(q)
        zi = jax.vmap(self.item)(i)
        zq = zq / (jnp.linalg.norm(zq, axis=1, keepdims=True) + 1e-6)
        zi = zi / (jnp.linalg.norm(zi, axis=1, keepdims=True) + 1e-6)
        return jnp.exp(self.log_scale) * zq @ zi.T


def loss_fn(model, q, i):
    logits = model(q, i)
    target = jnp.arange(len(q))
    a = optax.softmax_cross_entropy_with_integer_labels(logits, target).mean()
    b = optax.softmax_cross_entropy_with_integer_labels(logits.T, target).mean()
    return (a + b) / 2


@eqx.filter_jit
def make_step(model, opt_state, q, i):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, q, i)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


key = jr.key(0)
k_model, k_latent, k1, k2, k_perm = jr.split(key, 5)
latent = jr.normal(k_latent, (512, 4))
queries = jnp.tanh(latent @ jr.normal(k1, (4, 12)))
items = jnp.tanh(latent @ jr.normal(k2, (4, 12)))

model = TwoTower(12, k_model)
optim = optax.adam(5e-3)
opt_state = optim.init(eqx.filter(model, eqx.is_array))
for epoch in range(10):
    order = jr.permutation(jr.fold_in(k_perm, epoch), 512)
    for start in range(0, 512, 64):
        idx = order[start : start + 64]
        model, opt_state, loss = make_step(model, opt_state, queries[idx], items[idx])
    print(f"epoch {epoch} loss {loss:.4f} scale {jnp.exp(model.log_scale):.3f}")
