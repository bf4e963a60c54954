import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k1, k2, k3, kc, kx = jax.random.split(key, 5)
centers = jax.random.normal(kc, (6, 10)) * 2.0
params = {
    "enc": jax.random.normal(k1, (10, 16)) * 0.3,
    "pred1": jax.random.normal(k2, (16, 16)) * 0.25,
    "pred2": jax.random.normal(k3, (16, 16)) * 0.25,
}


def encode(p, x):
    z = jnp.tanh(x @ p["enc"])
    return (z - z.mean(0)) / (z.std(0) + 1e-4)


def cosine(a, b):
    a = a / (jnp.linalg.norm(a, axis=-1, keepdims=True) + 1e-6)
    b = b / (jnp.linalg.norm(b, axis=-1, keepdims=True) + 1e-6)
    return jnp.mean(jnp.sum(a * b, axis=-1))


def loss_fn(p, x1, x2):
    z1, z2 = encode(p, x1), encode(p, x2)
    q1 = jnp.tanh(z1 @ p["pred1"]) @ p["pred2"]
    q2 = jnp.tanh(z2 @ p["pred1"]) @ p["pred2"]
    return -0.5 * (cosine(q1, jax.lax.stop_gradient(z2)) + cosine(q2, jax.lax.stop_gradient(z1)))


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))
opt_state = optimizer.init(params)


@jax.jit
def update(params, opt_state, key):
    ki, ka, kb = jax.random.split(key, 3)
    base = centers[jax.random.randint(ki, (128,), 0, 6)]
    x1 = base + 0.5 * jax.random.normal(ka, base.shape)
    x2 = base + 0.5 * jax.random.normal(kb, base.shape)
    loss, grads = jax.value_and_grad(loss_fn)(params, x1, x2)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for step in range(201):
    params, opt_state, loss = update(params, opt_state, jax.random.fold_in(kx, step))
    if step % 40 == 0:
        print(f"step {step} loss {loss:.4f}")
