import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k1, k2, kx, kw, kt = jax.random.split(key, 5)


def load_weights():
    return {
        "w1": jax.random.normal(k1, (16, 64)),
        "b1": jnp.full((64,), 0.3),
        "w2": jax.random.normal(k2, (64, 4)) * 0.6,
    }


def forward(params, x):
    x = x.astype(jnp.bfloat16)
    h = jnp.tanh((x @ params["w1"].astype(jnp.bfloat16) + params["b1"].astype(jnp.bfloat16)) * 0.25)
    return (h @ params["w2"].astype(jnp.bfloat16)).astype(jnp.float32)


def loss_fn(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


x = jax.random.normal(kx, (256, 16))
params = load_weights()
shifted = {k: v + 0.15 * jax.random.normal(kt, v.shape) for k, v in params.items()}
y = forward(shifted, x)

params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
optimizer = optax.sgd(2e-3)
opt_state = optimizer.init(params)


@jax.jit
def step_fn(params, opt_state):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, optax.global_norm(grads)


for step in range(1001):
    params, opt_state, loss, norm = step_fn(params, opt_state)
    if step % 200 == 0:
        print(f"step {step} loss {loss:.5f} gradient norm {norm:.3f}")
