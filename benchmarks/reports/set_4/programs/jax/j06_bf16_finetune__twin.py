import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm(param_dtype=jnp.float32)(x)
        h = nn.gelu(nn.Dense(2 * self.width, dtype=jnp.bfloat16, param_dtype=jnp.float32)(h))
        return x + nn.Dense(self.width, dtype=jnp.bfloat16, param_dtype=jnp.float32)(h)


class Model(nn.Module):
    width: int = 32
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        for _ in range(self.depth):
            x = Block(self.width)(x)
        return nn.Dense(1)(x.astype(jnp.float32))[..., 0]


key = jax.random.key(0)
k_x, k_w, k_init = jax.random.split(key, 3)
x = jax.random.normal(k_x, (512, 8))
y = jnp.sin(x @ jax.random.normal(k_w, (8,)))

model = Model()
params = model.init(k_init, x[:1])["params"]
schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-4, 10, 120)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
opt_state = tx.init(params)
start = params


@jax.jit
def step(params, opt_state, xb, yb):
    loss, grads = jax.value_and_grad(
        lambda p: jnp.mean((model.apply({"params": p}, xb) - yb) ** 2)
    )(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for i in range(120):
    lo = (i * 64) % 512
    params, opt_state, loss = step(params, opt_state, x[lo : lo + 64], y[lo : lo + 64])
    if i % 30 == 29:
        changed = jnp.mean(params["Block_0"]["Dense_0"]["kernel"] != start["Block_0"]["Dense_0"]["kernel"])
        print(f"step {i} loss {loss:.4f} changed {changed:.3f}")
