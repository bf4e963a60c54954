import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(4, 32, rngs=rngs)
        self.out = nnx.Linear(32, 1, kernel_init=nnx.initializers.zeros, rngs=rngs)
        self.shift = jnp.array([0.5, -0.5, 0.0, 1.0])

    def __call__(self, x):
        return self.out(jnp.tanh(self.hidden(x - self.shift)))[:, 0]


x = jax.random.normal(jax.random.key(2), (256, 4)) + jnp.array([0.5, -0.5, 0.0, 1.0])
y = jnp.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2]
model = Net(nnx.Rngs(0))
schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-2, warmup_steps=10, decay_steps=150)
tx = optax.MultiSteps(optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule)), every_k_schedule=4)
optimizer = nnx.Optimizer(model, tx.gradient_transformation(), wrt=nnx.Param)


@nnx.jit
def train_step(model, optimizer, xb, yb):
    loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(xb) - yb) ** 2))(model)
    optimizer.update(model, grads)
    return loss


for step in range(600):
    start = (step * 64) % 256
    loss = train_step(model, optimizer, x[start : start + 64], y[start : start + 64])
    if step < 4 or step % 120 == 0 or step == 599:
        print(f"micro step {step} loss {float(loss):.5f}")
