"""Programs whose gradient is zero, NaN or refused, based on questions in forums and issues.

:mod:`torch_cases` describes the marks. ``loss`` is the function, ``args`` are its arguments, ``w`` is the source, and
``grad`` is its gradient.
"""

CASES = """
#@ value_stopped_beside_its_argmax stop_gradient
def loss(w, x):
    q = lax.stop_gradient((x * w)[:, 0])  #! #- q = (x * w)[:, 0]
    return jnp.mean((q - jnp.take(jnp.ones(2), jnp.argmax(x * w, axis=1))) ** 2)
w, x = jnp.array([0.5, 2.0]), jnp.array([[1.0, 2.0], [3.0, 1.0]])
args = (w, x)
grad = jax.grad(loss)(*args)
#@ stop_gradient_on_the_way stop_gradient
w = jnp.array([1.0, 2.0])
def loss(w):
    h = lax.stop_gradient(w * 3.0) #! #- h = w * 3.0
    return jnp.sum(h * h)
args = w,
grad = jax.grad(loss)(*args)
#@ frozen_by_tree_map stop_gradient
params = {"encoder": jnp.ones((2, 3)), "head": jnp.ones(3)}
w = params["encoder"]
def loss(params, x):
    frozen = jax.tree.map(lax.stop_gradient, params["encoder"]) #! #- frozen = params["encoder"]
    return jnp.sum((x @ frozen) * params["head"])
args = params, jnp.ones((4, 2))
grad = jax.grad(loss)(*args)["encoder"]
#@ integer_weights integer_dtype
w = jnp.array([1, 2, 3]) #! #- w = jnp.array([1.0, 2.0, 3.0])
def loss(w):
    return jnp.sum(w**2) / 2
args = w,
grad = jax.grad(loss)(*args)
#@ sampled_from_a_categorical no_derivative
w = jnp.array([0.1, 0.7, 0.2])
def loss(w, key, values):
    k = jax.random.categorical(key, jnp.log(w)) #! #-
    return values[k] * 1.0 #- return jnp.sum(jax.nn.softmax(jnp.log(w)) * values)
args = w, jax.random.PRNGKey(0), jnp.array([1.0, 5.0, 2.0])
grad = jax.grad(loss)(*args)
#@ argmax_of_the_scores no_derivative
w = jnp.array([[0.1, 0.7], [0.4, 0.2]])
def loss(w):
    best = jnp.argmax(w, axis=1) #! #- best = jax.nn.softmax(w, axis=1)[:, 1]
    return jnp.mean(best.astype(jnp.float32))
args = w,
grad = jax.grad(loss)(*args)
#@ step_function_by_where no_derivative
w = jnp.array([0.3, -0.2, 0.9])
def loss(w):
    fires = jnp.where(w > 0.1, 1.0, 0.0) #! #- fires = jax.nn.sigmoid((w - 0.1) / 0.1)
    return jnp.sum(fires * jnp.array([1.0, 2.0, 3.0]))
args = w,
grad = jax.grad(loss)(*args)
#@ image_as_uint8 integer_cast
w = jnp.array([0.3, 0.8])
def loss(w):
    pixels = (w * 255).astype(jnp.uint8) #! #- pixels = w * 255
    return jnp.mean(pixels / 255.0)
args = w,
grad = jax.grad(loss)(*args)
#@ item_for_the_log left_jax
w = jnp.array([1.0, 2.0])
def loss(w):
    value = jnp.sum(w**2)
    print(value.item()) #! #-
    return value
args = w,
grad = jax.jit(jax.grad(loss))(*args)
#@ numpy_in_the_middle left_jax
import numpy as np
w = jnp.array([1.0, 2.0])
def loss(w):
    h = jnp.exp(w)
    return jnp.sum(np.log1p(h)) #! #- return jnp.sum(jnp.log1p(h))
args = w,
grad = jax.jit(jax.grad(loss))(*args)
#@ python_loop_to_a_traced_number left_jax
w = jnp.array([1.0, 2.0])
def loss(w, n):
    total = 0.0
    for k in range(n): #! #- for k in range(3):
        total = total + jnp.sum(w) / (k + 1)
    return total
args = w, 3
grad = jax.jit(jax.grad(loss))(*args)
#@ if_on_a_value branch
w = jnp.array([1.0, 2.0])
def loss(w):
    if jnp.sum(w) > 1.0: #! #-
        return jnp.sum(w**2) #-
    return jnp.sum(w) #- return jnp.where(jnp.sum(w) > 1.0, jnp.sum(w**2), jnp.sum(w))
args = w,
grad = jax.jit(jax.grad(loss))(*args)
#@ if_where_another_number_is_used_on branch
w = jnp.array([1.0, 2.0])
def loss(w, x):
    score, level = jnp.sum(w * x), jnp.mean(x)
    if level < score: #! #-
        return level * 2.0 #-
    return level #- return level * (1.0 + jax.nn.sigmoid(score - level))
args = w, jnp.array([3.0, 1.0])
grad = jax.grad(loss)(*args)
#@ if_where_the_number_is_used_in_the_other_branch other_branch
w = jnp.array([1.0, 2.0])
def loss(w, x):
    score, level = jnp.sum(w * x), jnp.mean(x)
    if level < score: #! #-
        return level * 2.0 #-
    return score #- return jnp.maximum(level, score)
args = w, jnp.array([3.0, 1.0])
grad = jax.grad(loss)(*args)
#@ boolean_mask_as_an_index boolean_index
w = jnp.array([1.0, -2.0, 3.0])
def loss(w):
    return jnp.mean(w[w > 0] ** 2) #! #- return jnp.mean(w**2, where=w > 0)
args = w,
grad = jax.jit(jax.grad(loss))(*args)
#@ the_second_argument_was_meant argnums
w = jnp.array([1.0, 2.0])
def loss(x, w):
    return jnp.sum(jnp.round(x) * w ** 2)
args = jnp.ones(2), w
grad = jax.grad(loss)(*args) #! #- options = {"argnums": 1}; grad = jax.grad(loss, 1)(*args)
#@ one_loss_for_each_example not_scalar
w = jnp.array([1.0, 2.0])
def loss(w, x):
    return (x @ w - 1.0) ** 2 #! #- return jnp.mean((x @ w - 1.0) ** 2)
args = w, jnp.ones((3, 2))
grad = jax.grad(loss)(*args)
#@ metrics_beside_the_loss has_aux
w = jnp.array([1.0, 2.0])
def loss(w, x):
    y = x @ w
    return jnp.mean(y**2), {"mean": jnp.mean(y)} #! #- return jnp.mean(y**2)
args = w, jnp.ones((3, 2))
grad = jax.grad(loss)(*args)
#@ solver_with_a_while_loop while_loop
w = jnp.array([2.0, 3.0])
def loss(w):
    def further(x):
        return jnp.max(jnp.abs(x * x - w)) > 1e-3
    root = lax.while_loop(further, lambda x: 0.5 * (x + w / x), jnp.ones(2)) #! #- root = lax.fori_loop(0, 6, lambda \
k, x: 0.5 * (x + w / x), jnp.ones(2))
    return jnp.sum(root)
args = w,
grad = jax.grad(loss)(*args)
#@ fori_loop_in_a_compiled_helper while_loop
import functools
w = jnp.array([2.0, 3.0])
@jax.jit #- @functools.partial(jax.jit, static_argnames="n")
def power(w, n):
    return lax.fori_loop(0, n, lambda k, x: x * w, jnp.ones(2)) #!
def loss(w):
    return jnp.sum(power(w, n=3))
args = w,
grad = jax.grad(loss)(*args)
#@ custom_vjp_gives_zeros custom_rule
w = jnp.array([0.3, 1.2])
@jax.custom_vjp
def quantize(x):
    return jnp.round(x)
quantize.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (jnp.zeros_like(g),)) #! #- quantize.defvjp(lambda x: \
(jnp.round(x), None), lambda _, g: (g,))
def loss(w):
    return jnp.sum(quantize(w * 2.0) ** 2)
args = w,
grad = jax.grad(loss)(*args)
#@ custom_jvp_gives_zeros custom_rule
w = jnp.array([0.3, 1.2])
@jax.custom_jvp
def gate(x):
    return x * x
@gate.defjvp
def gate_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return gate(x), jnp.zeros_like(t) #! #- return gate(x), 2 * x * t
def loss(w):
    y = gate(w)
    return jnp.sum(y)
args = w,
grad = jax.grad(loss)(*args)
#@ rule_of_zeros_before_another_weight custom_rule
params = {"w": jnp.ones((3, 2)), "v": jnp.array([0.5, 2.0])}
w = params["w"]
@jax.custom_jvp
def binary(x):
    return jnp.where(x >= 0, 1.0, -1.0)
@binary.defjvp
def binary_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return binary(x), jnp.zeros_like(t) #! #- return binary(x), t
def loss(params, x):
    return jnp.mean(binary(x @ params["w"]) @ params["v"])
args = params, jnp.ones((4, 3))
grad = jax.grad(loss)(*args)["w"]
#@ parameter_from_outside closure
w = jnp.array([1.0, 2.0])
def loss(x): #- def loss(w, x):
    return jnp.sum(w * x) #!
args = jnp.zeros(2), #- args = w, jnp.ones(2)
grad = jax.grad(loss)(*args)
#@ solver_on_the_host callback
import numpy as np
w = jnp.array([1.0, 2.0])
def loss(w):
    y = jax.pure_callback(lambda v: np.cbrt(np.asarray(v)), jax.ShapeDtypeStruct((2,), w.dtype), w) #! #- y = \
jnp.cbrt(w)
    return jnp.sum(y)
args = w,
grad = jax.grad(loss)(*args)
#@ activation_kept_in_a_list leaked_tracer
w = jnp.array([1.0, 2.0])
def loss(w):
    kept = []
    @jax.jit
    def layer(x):
        kept.append(x * 2.0) #-
        return jnp.sin(x) #- return jnp.sin(x), x * 2.0
    y = layer(w) #- y, extra = layer(w); kept.append(extra)
    return jnp.sum(y * kept[0]) #!
args = w,
grad = jax.grad(loss)(*args)
#@ rotation_by_math left_jax
import math
w = jnp.array(0.3)
def loss(w, points):
    c, s = math.cos(w), math.sin(w) #! #- c, s = jnp.cos(w), jnp.sin(w)
    return jnp.sum(points @ jnp.array([[c, -s], [s, c]])[0])
args = w, jnp.array([[1.0, 0.0], [0.5, 2.0]])
grad = jax.grad(loss)(*args)
#@ rule_of_zeros_above_its_last_return custom_rule
w = jnp.array([0.3, 1.2])
@jax.custom_vjp
def limit(x):
    return x * 1.0
def back(_, g):
    if g.ndim:
        return (0.0 * g,) #! #- return (g,)
    return (g,)
limit.defvjp(lambda x: (x * 1.0, None), back)
def loss(w):
    return jnp.sum(limit(w * 2.0) ** 2)
args = w,
grad = jax.grad(loss)(*args)
"""
