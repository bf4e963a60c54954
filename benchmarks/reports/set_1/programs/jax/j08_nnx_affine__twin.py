import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Affine(nnx.Module):
    def __init__(self, dim, rngs):
        self.mix = nnx.Linear(dim, dim, rngs=rngs)
        self.scale = nnx.Param(jnp.ones(dim) * 0.1)
        self.shift = nnx.Param(jnp.zeros(dim))

    def __call__(self, x):
        return jnp.tanh(self.mix(x)) * self.scale[...] + self.shift[...]


model = Affine(4, nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(5e-2), wrt=nnx.Param)
x = jax.random.normal(jax.random.PRNGKey(1), (128, 4))
y = 3.0 * jnp.tanh(x[:, ::-1]) + 1.0


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


for step in range(50):
    loss = train_step(model, optimizer, x, y)
    if step % 10 == 9:
        print(step + 1, float(loss))
