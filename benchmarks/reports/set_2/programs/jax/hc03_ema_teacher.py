import equinox as eqx
import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
k_net, k_x, k_w, key = jax.random.split(key, 4)
x = jax.random.normal(k_x, (256, 6))
y = (x @ jax.random.normal(k_w, (6,)) > 0).astype(jnp.int32)
labeled = jnp.arange(256) < 32

student = eqx.nn.MLP(6, 2, 32, 1, key=k_net)
teacher = student
optim = optax.adam(5e-3)
opt_state = optim.init(eqx.filter(student, eqx.is_inexact_array))


def loss_fn(student, teacher, rng):
    k_s, k_t = jax.random.split(rng)
    noisy_s = x + 0.1 * jax.random.normal(k_s, x.shape)
    noisy_t = x + 0.1 * jax.random.normal(k_t, x.shape)
    logits = jax.vmap(student)(noisy_s)
    soft = jax.nn.softmax(jax.lax.stop_gradient(jax.vmap(teacher)(noisy_t)))
    supervised = optax.softmax_cross_entropy_with_integer_labels(logits, y)
    supervised = jnp.sum(jnp.where(labeled, supervised, 0.0)) / labeled.sum()
    consistency = jnp.mean((jax.nn.softmax(logits) - soft) ** 2)
    return supervised + consistency


@eqx.filter_jit
def step(student, teacher, opt_state, rng):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(student, teacher, rng)
    updates, opt_state = optim.update(grads, opt_state)
    student = eqx.apply_updates(student, updates)
    s_arrays = eqx.filter(student, eqx.is_inexact_array)
    t_arrays, static = eqx.partition(teacher, eqx.is_inexact_array)
    t_arrays = jax.tree.map(lambda t, s: 0.98 * t + 0.02 * s, t_arrays, s_arrays)
    return student, eqx.combine(t_arrays, static), opt_state, loss


for i in range(300):
    key, sub = jax.random.split(key)
    student, teacher, opt_state, loss = step(student, teacher, opt_state, sub)
    if i % 60 == 0 or i == 299:
        acc = jnp.mean(jax.vmap(teacher)(x).argmax(-1) == y)
        print(f"step {i} loss {float(loss):.4f} teacher accuracy {float(acc):.3f}")
