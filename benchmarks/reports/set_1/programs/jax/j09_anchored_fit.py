from functools import partial

import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
params = {"w1": jax.random.normal(key, (5, 16)) * 0.4, "w2": jax.random.normal(key, (16, 1)) * 0.2}
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(params)
x = jax.random.normal(jax.random.PRNGKey(1), (100, 5))
y = jnp.sin(x[:, :1])
target_params = params


def forward(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def loss_fn(params, target_params):
    anchor = jnp.mean((forward(params, x) - forward(target_params, x)) ** 2)
    return jnp.mean((forward(params, x) - y) ** 2) + 0.01 * anchor


@partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, target_params):
    loss, grads = jax.value_and_grad(loss_fn)(params, target_params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for step in range(40):
    params, opt_state, loss = train_step(params, opt_state, target_params)
    if step % 10 == 0:
        target_params = params
        print(step, float(loss))
