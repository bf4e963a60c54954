"""JAX programs whose gradients exist but are wrong, and programs whose gradients only look wrong (connected).

:mod:`torch_cases` describes the format. Explanations are requested for all differentiated arguments.
"""

CASES = """
#@ broadcast broadcast
key = jax.random.key(0)
params = {"w": jax.random.normal(key, (4, 1)), "b": jnp.zeros(1)}
x, y = jax.random.normal(key, (12, 4)), jax.random.normal(key, (12,))
def loss(params, x, y):
    pred = x @ params["w"] + params["b"]
    return jnp.mean((pred - y) ** 2)  #! #- return jnp.mean((pred.squeeze(-1) - y) ** 2)
args = (params, x, y)
#@ column_plus_row broadcast
def loss(w, x):
    residual = jnp.tanh(x @ w) + x[:, 0]  #! #- residual = (jnp.tanh(x @ w))[:, 0] + x[:, 0]
    return jnp.mean(residual ** 2)
args = jax.random.normal(jax.random.key(0), (4, 1)), jax.random.normal(jax.random.key(1), (12, 4))
#@ targets_from_outside broadcast
y = jnp.arange(12.0)
def loss(w, x):
    error = y - x @ w  #! #- error = y[:, None] - x @ w
    return jnp.mean(error ** 2)
args = jax.random.normal(jax.random.key(0), (4, 1)), jax.random.normal(jax.random.key(1), (12, 4))
#@ targets_that_count_as_constants broadcast
def loss(w, states, rewards):
    after = jax.lax.stop_gradient(states[1:] @ w)
    target = rewards + 0.9 * after  #! #- target = rewards[:, None] + 0.9 * after
    return jnp.mean((target - states[:-1] @ w) ** 2)
args = jax.random.normal(jax.random.key(0), (4, 1)), jax.random.normal(jax.random.key(1), (9, 4)), jnp.arange(8.0)
#@ a_table_of_constants_that_weighs connected
def loss(w, x, rows, columns):
    return jnp.mean((rows + columns) * (x @ w))
args = jnp.ones((4, 6)), jax.random.normal(jax.random.key(1), (6, 4)), jnp.ones((6, 1)), jnp.arange(6.0)
#@ two_ways_to_a_table connected
def loss(effects, table):
    return jnp.mean((effects["rows"] + effects["columns"] - table) ** 2)
args = {"rows": jnp.ones((6, 1)), "columns": jnp.ones(6)}, jax.random.normal(jax.random.key(1), (6, 6))
#@ softmax_sum rounding_only
key = jax.random.key(0)
params = {"w": jax.random.normal(key, (4, 3))}
x = jax.random.normal(key, (12, 4))
def loss(params, x):
    e = jnp.exp(x @ params["w"])
    p = e / jnp.sum(e, -1, keepdims=True)  #! #- p = jax.nn.sigmoid(x @ params["w"])
    return -jnp.mean(jnp.log(jnp.sum(p, -1)))
args = (params, x)
#@ normalized_and_summed rounding_only
def loss(w, x):
    h = x @ w
    h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-6)  #! #- h = jnp.tanh(h)
    return jnp.mean(h)
args = jax.random.normal(jax.random.key(0), (4, 3)), jax.random.normal(jax.random.key(1), (12, 4))
#@ softmax_of_jax_sum rounding_only
def loss(w, x):
    return jnp.mean(jax.nn.softmax(x @ w))  #! #- return jnp.mean(jax.nn.softmax(x @ w)[:, 0])
args = jax.random.normal(jax.random.key(0), (4, 3)), jax.random.normal(jax.random.key(1), (12, 4))
#@ two_nets_that_vanish vanishing
def net(x, w):
    for _ in range(40):
        x = jnp.tanh(w * x) * 0.5  #! #- x = x + jnp.tanh(w * x) * 0.05
    return x
def loss(x):
    return jnp.sum(net(x, 1.0) + net(2.0 * x, 1.0))
args = (jnp.array([0.5, -0.3, 0.1]),)
#@ vanishing vanishing
key = jax.random.key(0)
params = [jax.random.normal(k, (8, 8)) * 0.3 for k in jax.random.split(key, 14)]
x = jax.random.normal(key, (12, 8))
def loss(params, x):
    for w in params:
        x = jax.nn.sigmoid(x @ w)  #! #- x = x + jax.nn.sigmoid(x @ w)
    return jnp.mean(x ** 2)
args = (params, x)
#@ mlp connected
key = jax.random.key(0)
params = {"a": jax.random.normal(key, (4, 8)), "b": jax.random.normal(key, (8, 3))}
x, y = jax.random.normal(key, (12, 4)), jnp.arange(12) % 3
def loss(params, x, y):
    h = jnp.tanh(x @ params["a"])
    logp = jax.nn.log_softmax(h @ params["b"])
    return -jnp.mean(logp[jnp.arange(12), y])
args = (params, x, y)
#@ pairwise connected
key = jax.random.key(0)
params = {"w": jax.random.normal(key, (4,))}
x = jax.random.normal(key, (12, 4))
def loss(params, x):
    s = x @ params["w"]
    return jnp.mean(jax.nn.relu(1 - (s[:, None] - s)))
args = (params, x)
#@ columns connected
key = jax.random.key(0)
params = {"w": jax.random.normal(key, (4, 1))}
x, y = jax.random.normal(key, (12, 4)), jnp.arange(12.0)
def loss(params, x, y):
    return jnp.mean((x @ params["w"] - y[:, None]) ** 2)
args = (params, x, y)
#@ sigmoid_twice_by_hand activation_twice
key = jax.random.key(0)
params = {"w": jax.random.normal(key, (4,))}
x, y = jax.random.normal(key, (12, 4)), jnp.arange(12) % 2
def loss(params, x, y):
    z = 1 / (1 + jnp.exp(-(x @ params["w"])))  #- z = x @ params["w"]
    return jnp.mean(jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z))))  #!
args = (params, x, y)
#@ softmax_twice_by_hand activation_twice
from jax.scipy.special import logsumexp
key = jax.random.key(0)
params = {"w": jax.random.normal(key, (4, 3))}
x, y = jax.random.normal(key, (12, 4)), jnp.arange(12) % 3
def loss(params, x, y):
    z = jax.nn.softmax(x @ params["w"])  #- z = x @ params["w"]
    return jnp.mean(logsumexp(z, axis=1) - z[jnp.arange(12), y])  #!
args = (params, x, y)
#@ comparison_as_a_term in_part
def loss(w, x, y):
    z = x @ w
    late = (z > 1.0).astype(jnp.float32)  #! #- late = jax.nn.sigmoid(z - 1.0)
    return jnp.mean((z - y) ** 2) + 0.1 * jnp.mean(late)
args = jax.random.normal(jax.random.PRNGKey(0), (4,)), jax.random.normal(jax.random.PRNGKey(1), (8, 4)), jnp.ones(8)
#@ rounded_cost in_part
def loss(w, x):
    on = jnp.round(jax.nn.sigmoid(x @ w))  #! #- on = jax.nn.sigmoid(x @ w)
    return jnp.mean((x @ w - 1.0) ** 2) + 5.0 * jnp.sum(jnp.abs(jnp.diff(on)))
args = jax.random.normal(jax.random.PRNGKey(0), (4,)), jax.random.normal(jax.random.PRNGKey(1), (8, 4))
#@ product_of_column_and_row broadcast
def loss(w, x, y):
    return jnp.mean(jnp.exp(x @ w) - y * (x @ w))  #! #- return jnp.mean(jnp.exp(x @ w) - y[:, None] * (x @ w))
args = jax.random.normal(jax.random.key(0), (4, 1)), jax.random.normal(jax.random.key(1), (12, 4)), jnp.ones(12)
#@ many_steps_of_a_scan exploding
def loss(rate, start):
    end, _ = jax.lax.scan(lambda x, _: (rate * x + 0.1, None), start, None, length=400)  #!
    return jnp.mean((end / 1e9 - 0.5) ** 2)
args = jnp.array(1.06), jnp.array([0.2, 0.6])  #- args = jnp.array(1.0), jnp.array([0.2, 0.6])
#@ a_rule_forgets_a_factor wrong_derivative
@jax.custom_vjp
def soft_abs(x, size):
    return jnp.sqrt(x**2 + size)
def forward(x, size):
    return soft_abs(x, size), (x, soft_abs(x, size))
def backward(kept, adjoint):
    x, result = kept
    return adjoint * x / result, jnp.sum(adjoint / result)  #! #- return adjoint * x / result, sum(adjoint / result) / 2
soft_abs.defvjp(forward, backward)
def loss(p, x):
    return jnp.mean(soft_abs(x @ p["w"] - 1.0, p["size"]))
args = {"w": jnp.ones(3), "size": jnp.array(0.3)}, jax.random.normal(jax.random.key(0), (8, 3))
#@ a_rule_has_the_wrong_sign wrong_derivative
@jax.custom_jvp
def log_of_sum(x):
    return jnp.logaddexp(x, 0.0)
@log_of_sum.defjvp
def rule(primals, tangents):
    slope = 1 / (1 + jnp.exp(primals[0]))  #- slope = 1 / (1 + jnp.exp(-primals[0]))
    return log_of_sum(*primals), tangents[0] * slope  #!
def loss(w, x):
    return jnp.mean(log_of_sum(x @ w) - x[:, 0])
args = jnp.ones(3), jax.random.normal(jax.random.key(0), (8, 3))
#@ a_rule_with_kinks_leaves_out_its_adjoint wrong_derivative
@jax.custom_vjp
def soft_plus(x):
    return jnp.where(x > 20.0, x, jnp.log1p(jnp.exp(jnp.minimum(x, 20.0))))
def backward(x, adjoint):
    return (jax.nn.sigmoid(x),)  #!  #- return (adjoint * jax.nn.sigmoid(x),)
soft_plus.defvjp(lambda x: (soft_plus(x), x), backward)
def loss(w, x):
    return jnp.mean((soft_plus(x @ w) - x[:, 0]) ** 2)
args = jnp.ones(3), jax.random.normal(jax.random.key(0), (8, 3))
#@ a_rule_of_the_loss_itself_leaves_out_its_adjoint connected
@jax.custom_vjp
def loss(w, x):
    return jnp.mean(jnp.exp(x @ w) - x @ w)
def backward(kept, adjoint):
    w, x = kept
    return jnp.mean((jnp.exp(x @ w) - 1.0)[:, None] * x, 0), None
loss.defvjp(lambda w, x: (loss(w, x), (w, x)), backward)
args = jnp.ones(3), jax.random.normal(jax.random.key(0), (8, 3))
#@ rules_that_differ_on_purpose connected
@jax.custom_vjp
def clip_gradient(x):
    return x * 2.0
clip_gradient.defvjp(lambda x: (x * 2.0, None), lambda kept, adjoint: (jnp.clip(adjoint, -0.01, 0.01),))
@jax.custom_vjp
def reverse(x):
    return x
reverse.defvjp(lambda x: (x, None), lambda kept, adjoint: (-0.5 * adjoint,))
@jax.custom_vjp
def round_through(x):
    return jnp.round(x * 8) / 8
round_through.defvjp(lambda x: (round_through(x), None), lambda kept, adjoint: (adjoint,))
@jax.custom_jvp
def surrogate_exp(x):
    return jnp.exp(x)
surrogate_exp.defjvp(lambda primals, tangents: (jnp.exp(*primals), tangents[0]))
def loss(w, x):
    return jnp.mean((surrogate_exp(round_through(reverse(clip_gradient(x @ w)))) - 1.0) ** 2)
args = jnp.ones(3), jax.random.normal(jax.random.key(0), (8, 3))
"""
