import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
VOCAB, DIM, CONTEXT = 40, 16, 2

transition = rng.dirichlet(np.full(VOCAB, 0.1), size=VOCAB)
tokens = [0]
for _ in range(4000):
    tokens.append(rng.choice(VOCAB, p=transition[tokens[-1]]))
tokens = np.array(tokens)


def init_params(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "embed": 0.1 * jax.random.normal(k1, (VOCAB, DIM)),
        "hidden": jax.random.normal(k2, (CONTEXT * DIM, 64)) / np.sqrt(CONTEXT * DIM),
        "out": jax.random.normal(k3, (64, VOCAB)) / 8.0,
    }


def loss_fn(params, context, target):
    h = params["embed"][context].reshape(len(context), -1)
    h = jnp.tanh(h @ params["hidden"])
    logits = h @ params["out"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, target).mean()


def weight_decay_mask(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)


schedule = optax.cosine_decay_schedule(3e-3, 300)
optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.scale_by_adam(b1=0.9, b2=0.98),
    optax.add_decayed_weights(1e-4, mask=weight_decay_mask),
    optax.scale_by_schedule(schedule),
)
params = init_params(jax.random.key(0))
opt_state = optimizer.init(params)


@jax.jit
def train_step(params, opt_state, context, target):
    loss, grads = jax.value_and_grad(loss_fn)(params, context, target)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for step in range(300):
    start = rng.integers(0, len(tokens) - CONTEXT - 1, 64)
    context = np.stack([tokens[start + i] for i in range(CONTEXT)], axis=1)
    params, opt_state, loss = train_step(params, opt_state, context, tokens[start + CONTEXT])
    if step % 60 == 0:
        print(f"step {step} loss {loss:.4f}")
