import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

LENGTH, CLASSES = 10, 4
cell = nn.GRUCell(features=24)
readout = nn.Dense(CLASSES)
k_cell, k_out, key = jax.random.split(jax.random.PRNGKey(0), 3)
carry0 = jnp.zeros((32, 24))
params = {
    "cell": cell.init(k_cell, carry0, jnp.zeros((32, CLASSES))),
    "out": readout.init(k_out, carry0),
}


def make_batch(rng):
    tokens = jax.random.randint(rng, (LENGTH, 32), 0, CLASSES)
    return jax.nn.one_hot(tokens, CLASSES), tokens[0]


def loss_fn(params, inputs, labels):
    def unroll(carry, x_t):
        carry, _ = cell.apply(params["cell"], jax.lax.stop_gradient(carry), x_t)
        return carry, None

    carry, _ = jax.lax.scan(unroll, carry0, inputs)
    logits = readout.apply(params["out"], carry)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return loss, (logits.argmax(-1) == labels).mean()


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
opt_state = tx.init(params)


@jax.jit
def train_step(params, opt_state, rng):
    inputs, labels = make_batch(rng)
    (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, inputs, labels)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, acc


for i in range(600):
    key, sub = jax.random.split(key)
    params, opt_state, loss, acc = train_step(params, opt_state, sub)
    if i % 100 == 0 or i == 599:
        print(f"step {i} loss {float(loss):.4f} accuracy {float(acc):.3f}")
