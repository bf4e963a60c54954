"""More programs, after reports in issue trackers; the marks are those of :mod:`torch_cases`."""

CASES = '''
#@ norm_times_zero nan_backward
w = jnp.zeros(2)
def loss(w):
    n = jnp.linalg.norm(w) #! #- n = jnp.sqrt(jnp.sum(w**2) + 1e-9)
    return n ** 2 + jnp.sum(w)
args = w,
grad = jax.grad(loss)(*args)

#@ power_of_zero nan_backward
w = jnp.array([0.0, 2.0])
def loss(w):
    return jnp.sum(w ** 0.5) #! #- return jnp.sum((w + 1e-6) ** 0.5)
args = w,
grad = jax.grad(loss)(*args)

#@ arctan_at_origin nan_backward
w = jnp.array([0.0, 0.0])
def loss(w):
    return jnp.arctan2(w[0], w[1]) #! #- return jnp.arctan2(w[0], w[1] + 1e-3)
args = w,
grad = jax.grad(loss)(*args)

#@ std_of_constant nan_backward
w = jnp.ones(3)
def loss(w):
    return jnp.std(w) * 2.0 #! #- return jnp.sqrt(jnp.var(w * jnp.arange(3.0)) + 1e-9)
args = w,
grad = jax.grad(loss)(*args)

#@ one_over_zero nan_forward
w = jnp.array([1.0, 0.0])
def loss(w):
    r = 1.0 / w #! #- r = 1.0 / (w + 0.5)
    return jnp.sum(r)
args = w,
grad = jax.grad(loss)(*args)

#@ where_hides_a_division nan_forward
w = jnp.array([1.0, 0.0])
def loss(w):
    safe = jnp.where(w != 0, w, 1.0)
    r = jnp.sin(w) / w #! #- r = jnp.sin(safe) / safe
    return jnp.sum(jnp.where(w != 0, r, 1.0))
args = w,
grad = jax.grad(loss)(*args)

#@ logsumexp_of_minus_inf nan_forward
w = jnp.array([1.0, 2.0])
def loss(w):
    masked = jnp.where(jnp.array([False, False]), w, -jnp.inf) #! #- masked = jnp.where(jnp.array([True, False]), w, -jnp.inf)
    p = masked - jnp.max(masked)
    return jnp.sum(jnp.exp(p) * w)
args = w,
grad = jax.grad(loss)(*args)

#@ softmax_saturates saturated
w = jnp.array([500.0, 0.0])
def loss(w):
    p = jax.nn.softmax(w) #! #- p = jax.nn.softmax(w / 500.0)
    return jnp.sum((p - 0.3) ** 2)
args = w,
grad = jax.grad(loss)(*args)

#@ relu6_is_over saturated
w = jnp.array([50.0, 70.0])
def loss(w):
    return jnp.sum(jax.nn.relu6(w)) #! #- return jnp.sum(jax.nn.softplus(w))
args = w,
grad = jax.grad(loss)(*args)

#@ hinge_satisfied dead_relu
w = jnp.array([5.0, 7.0])
def loss(w):
    return jnp.mean(jnp.maximum(0.0, 1.0 - w)) #! #- return jnp.mean(jax.nn.softplus(1.0 - w))
args = w,
grad = jax.grad(loss)(*args)

#@ hard_sigmoid saturated
w = jnp.array([50.0, 70.0])
def loss(w):
    return jnp.sum(jax.nn.hard_sigmoid(w) ** 2) #! #- return jnp.sum(jax.nn.sigmoid(w / 50.0) ** 2)
args = w,
grad = jax.grad(loss)(*args)

#@ max_takes_other_row not_selected
w = jnp.array([1.0, 2.0])
def loss(w, b):
    m = jnp.max(jnp.concatenate([w, b])) #! #- m = jax.nn.logsumexp(jnp.concatenate([w, b]))
    return m ** 2
args = w, jnp.array([9.0])
grad = jax.grad(loss)(*args)

#@ lookup_other_ids not_selected
params = {"table": jnp.ones((4, 2)), "extra": jnp.ones((1, 2))}
w = params["extra"]
def loss(params, ids):
    full = jnp.concatenate([params["table"], params["extra"]])
    return jnp.sum(full[ids] ** 2) #!
args = params, jnp.array([0, 1]) #- args = params, jnp.array([0, 4])
grad = jax.grad(loss)(*args)["extra"]

#@ at_set_overwrites not_selected
w = jnp.array([1.0, 2.0])
def loss(w):
    h = w * 3.0
    h = h.at[:].set(1.0) #! #- h = h.at[0].set(1.0)
    return jnp.sum(h)
args = w,
grad = jax.grad(loss)(*args)

#@ coefficient_zero zero_factor
params = {"a": jnp.ones(2), "w": jnp.ones(2)}
w = params["w"]
def loss(p, beta):
    return jnp.sum(p["a"] ** 2) + beta * jnp.sum(p["w"] ** 2) #!
args = params, 0.0 #- args = params, 0.5
grad = jax.grad(loss)(*args)["w"]

#@ lora_zero zero_factor
params = {"A": jnp.ones((3, 2)), "B": jnp.zeros((2, 3))} #- params = {"A": jnp.ones((3, 2)), "B": jnp.ones((2, 3))}
w = params["A"]
def loss(p, x):
    h = x @ p["A"]
    y = x + h @ p["B"] #!
    return jnp.mean(y ** 2)
args = params, jnp.ones((2, 3))
grad = jax.grad(loss)(*args)["A"]

#@ bernoulli_sample no_derivative
w = jnp.array([0.3, 0.8])
def loss(w, key):
    z = jax.random.bernoulli(key, w) #! #- z = w
    return jnp.mean(z * 2.0)
args = w, jax.random.PRNGKey(1)
grad = jax.grad(loss)(*args)

#@ argsort_ranks no_derivative
w = jnp.array([0.3, 0.8, 0.1])
def loss(w):
    ranks = jnp.argsort(w) #! #- ranks = w
    return jnp.sum(ranks * jnp.array([1.0, 2.0, 4.0]))
args = w,
grad = jax.grad(loss)(*args)

#@ one_hot_of_argmax no_derivative
w = jnp.array([0.3, 0.8, 0.1])
def loss(w):
    hard = jax.nn.one_hot(jnp.argmax(w), 3) #! #- hard = jax.nn.softmax(w)
    return jnp.dot(hard, jnp.array([1.0, 2.0, 4.0]))
args = w,
grad = jax.grad(loss)(*args)

#@ floor_divide zero_derivative
w = jnp.array([3.3, 7.8])
def loss(w):
    return jnp.sum(w // 2.0) #! #- return jnp.sum(w / 2.0)
args = w,
grad = jax.grad(loss)(*args)

#@ digitize no_derivative
w = jnp.array([3.3, 7.8])
def loss(w, bins):
    k = jnp.digitize(w, bins) #! #- k = w
    return jnp.sum(k.astype(jnp.float32))
args = w, jnp.array([0.0, 5.0, 9.0])
grad = jax.grad(loss)(*args)

#@ histogram no_derivative
w = jnp.array([3.3, 7.8, 1.0])
def loss(w):
    h, _ = jnp.histogram(w, bins=3, range=(0.0, 9.0)) #! #- h = w
    return jnp.sum(h ** 2.0)
args = w,
grad = jax.grad(loss)(*args)

#@ int_of_tracer_shape left_jax
w = jnp.array([3.0, 7.0])
def loss(w):
    n = int(jnp.sum(w > 1.0)) #! #- n = 2
    return jnp.sum(w[:n])
args = w,
grad = jax.jit(jax.grad(loss))(*args)

#@ zeros_of_traced_size left_jax
w = jnp.array([3.0, 7.0])
def loss(w, n):
    pad = jnp.zeros(n) #! #- pad = jnp.zeros(2)
    return jnp.sum(w) + jnp.sum(pad)
args = w, 2
grad = jax.jit(jax.grad(loss))(*args)

#@ assert_on_value branch
w = jnp.array([3.0, 7.0])
def loss(w):
    assert jnp.all(w > 0) #! #-
    return jnp.sum(jnp.log(w))
args = w,
grad = jax.jit(jax.grad(loss))(*args)

#@ numpy_mean left_jax
import numpy as np
w = jnp.array([3.0, 7.0])
def loss(w):
    m = np.mean(np.asarray(w)) #! #- m = jnp.mean(w)
    return m ** 2
args = w,
grad = jax.jit(jax.grad(loss))(*args)

#@ global_parameters closure
W = jnp.ones((2, 2))
w = W
x = jnp.ones(2)
def predict(x):
    return W @ x #!
def loss(x): #- def loss(W, x):
    return jnp.sum(predict(x) ** 2) #- return jnp.sum((W @ x) ** 2)
args = x, #- args = W, x
grad = jax.grad(loss)(*args)

#@ dropout_rate_one not_selected
w = jnp.array([3.0, 7.0])
def loss(w, key):
    keep = jax.random.bernoulli(key, 0.0, w.shape) #- keep = jax.random.bernoulli(key, 1.0, w.shape)
    return jnp.sum(jnp.where(keep, w, 0.0) * 2.0) #!
args = w, jax.random.PRNGKey(0)
grad = jax.grad(loss)(*args)

#@ stop_in_vmap stop_gradient
w = jnp.array([3.0, 7.0])
def one(w, x):
    return lax.stop_gradient(jnp.dot(w, x)) * 2.0 #! #- return jnp.dot(w, x) * 2.0
def loss(w, xs):
    return jnp.mean(jax.vmap(one, (None, 0))(w, xs))
args = w, jnp.ones((3, 2))
grad = jax.grad(loss)(*args)

#@ grad_of_stopped_inner stop_gradient
w = jnp.array([3.0, 7.0])
def energy(w, x):
    return jnp.sum(jnp.sin(w) * x)
def loss(w, x):
    force = jax.grad(energy, 1)(lax.stop_gradient(w), x) #! #- force = jax.grad(energy, 1)(w, x)
    return jnp.sum(force ** 2)
args = w, jnp.ones(2)
grad = jax.grad(loss)(*args)

#@ cond_else_constant other_branch
w = jnp.array(0.5)
def loss(w, t):
    return lax.cond(t > 5, lambda w: w * 2.0, lambda w: 1.0, w) #!
args = w, 3 #- args = w, 7
grad = jax.grad(loss)(*args)

#@ switch_other other_branch
w = jnp.array(0.5)
def loss(w, k):
    return lax.switch(k, [lambda w: w * 0.0 + 1.0, lambda w: 1.0, lambda w: w ** 2], w) #!
args = w, 1 #- args = w, 2
grad = jax.grad(loss)(*args)

#@ softmax_of_one_class zero_cancels
w = jnp.array([[0.3], [0.4]]) #- w = jnp.array([[0.3, 0.2], [0.4, 0.9]])
def loss(w):
    return -jnp.mean(jax.nn.log_softmax(w, -1)[:, 0]) #!
args = w,
grad = jax.grad(loss)(*args)

#@ dict_state_unused unused
params = {"w": jnp.ones(2), "scale": jnp.ones(())}
w = params["scale"]
def loss(params, x): #!
    y = x * params["w"]
    return jnp.sum(y) #- return jnp.sum(y) * params["scale"]
args = params, jnp.ones(2)
grad = jax.grad(loss)(*args)["scale"]

#@ uint8_image integer_dtype
w = jnp.array([10, 200], dtype=jnp.uint8) #! #- w = jnp.array([10.0, 200.0])
def loss(x):
    return jnp.sum((x / 255.0) ** 2)
args = w,
grad = jax.grad(loss)(*args)

#@ custom_jvp_relu_half custom_rule
w = jnp.array([0.4, -0.2])
@jax.custom_vjp
def ste(x):
    return jnp.sign(x)
def fwd(x):
    return jnp.sign(x), x
def bwd(x, g):
    return (jnp.where(jnp.abs(x) > 1.0, g, 0.0),) #! #- return (g,)
ste.defvjp(fwd, bwd)
def loss(w):
    return jnp.sum(ste(w) * jnp.array([1.0, 2.0]))
args = w,
grad = jax.grad(loss)(*args)

#@ io_callback_metrics callback
import numpy as np
w = jnp.array([0.4, 0.2])
def host(x):
    return np.log1p(np.asarray(x))
def loss(w):
    y = jax.pure_callback(host, jax.ShapeDtypeStruct(w.shape, w.dtype), w * 2.0) #! #- y = jnp.log1p(w * 2.0)
    return jnp.sum(y)
args = w,
grad = jax.grad(loss)(*args)

#@ bias_of_the_module_in_a_layer closure
bias = jnp.array([0.5, -0.5])
w = bias
def layer(kernel, x): #- def layer(kernel, x, bias):
    return jax.nn.relu(x @ kernel + bias) #!
def loss(kernel, x): #- def loss(bias, x):
    return jnp.sum(layer(kernel, x) ** 2) #- return jnp.sum(layer(jnp.ones((3, 2)), x, bias) ** 2)
args = jnp.ones((3, 2)), jnp.array([[0.1, 0.2, 0.3]]) #- args = bias, jnp.array([[0.1, 0.2, 0.3]])
grad = jax.grad(loss)(*args)

#@ distances_after_a_shift zero_cancels
w = jnp.float32(0.5)
def loss(shift, points):
    moved = points + shift
    gaps = moved[1:] - moved[:-1] #! #- gaps = moved[1:] ** 2 - moved[:-1]
    return jnp.sum(gaps * jnp.array([1.0, 2.0, 4.0]))
args = w, jnp.array([0.0, 1.0, 4.0, 9.0])
grad = jax.grad(loss)(*args)

#@ softmax_over_an_axis_of_one zero_cancels
w = jnp.ones((2, 1)) #- w = jnp.array([[1.0, 0.5], [0.3, 2.0]])
def loss(w, x):
    return jnp.mean((jax.nn.softmax(x @ w, axis=-1) - 0.25) ** 2) #!
args = w, jnp.ones((3, 2))
grad = jax.grad(loss)(*args)

#@ cut_to_whole_numbers zero_derivative
w = jnp.array([0.6, -0.5])
def loss(w):
    return jnp.sum(jnp.trunc(w * 3.0) ** 2) #! #- return jnp.sum((w * 3.0) ** 2)
args = w,
grad = jax.grad(loss)(*args)

#@ square_of_a_dead_relu dead_relu
w = jnp.array([-1.0, -2.0]) #- w = jnp.array([1.0, -2.0])
def loss(w):
    h = jax.nn.relu(w) #!
    return jnp.mean(h ** 2)
args = w,
grad = jax.grad(loss)(*args)

#@ return_was_forgotten not_scalar
w = jnp.array([1.0, 2.0])
def loss(w):
    value = jnp.sum(w ** 2) #!
    #+ return value
args = w,
grad = jax.grad(loss)(*args)

#@ filled_by_assignment refused
w = jnp.array(0.4)
def loss(w):
    m = jnp.zeros(2)
    m[0] = jnp.cos(w) #! #- m = m.at[0].set(jnp.cos(w))
    return jnp.sum(m)
args = w,
grad = jax.grad(loss)(*args)

#@ root_by_bisection while_loop
w = jnp.array(1.5)
def loss(w):
    def halve(s):
        mid = 0.5 * (s[0] + s[1])
        above = mid ** 3 + w * mid > 2.0
        return jnp.where(above, s[0], mid), jnp.where(above, mid, s[1])
    low, high = lax.while_loop(lambda s: s[1] - s[0] > 1e-3, halve, (0.0, 4.0)) #! #- low = high = lax.fori_loop(0, 9, lambda k, r: r - (r**3 + w * r - 2.0) / (3.0 * r**2 + w), 1.0)
    return low + high
args = w,
grad = jax.grad(loss)(*args)

#@ tree_beside_its_global closure
params = {"w": jnp.array([1.0, 2.0]), "b": jnp.array(0.5)}
w = params["w"]
def loss(p, x):
    return jnp.sum(x * params["w"] + params["b"]) #! #- return jnp.sum(x * p["w"] + p["b"])
args = params, jnp.ones(2)
grad = jax.grad(loss)(*args)["w"]

#@ same_network_twice zero_cancels
w = jnp.array([[0.3, 0.2], [0.1, 0.4]])
def loss(w, x):
    new, old = jnp.tanh(w @ x), jnp.tanh(w @ x)
    return jnp.sum(new - old) #! #- return jnp.sum(new - lax.stop_gradient(old))
args = w, jnp.array([1.0, 2.0])
grad = jax.grad(loss)(*args)

#@ saturated_in_every_step saturated
w = jnp.array([50.0, 60.0])
def loss(w, xs):
    def cell(h, x):
        h = jnp.tanh(w @ x + h) #! #- h = jnp.tanh(0.001 * (w @ x) + h)
        return h, h * 0.5
    return jnp.sum(lax.scan(cell, 0.0, xs)[1])
args = w, jnp.array([[3.0, 4.0], [5.0, 6.0]])
grad = jax.grad(loss)(*args)

#@ zero_by_zero_in_a_function nan_forward
w = jnp.array(2.0)
def sinc(t):
    return jnp.sin(t) / t #! #- return jnp.sinc(t)
def loss(w):
    return lax.scan(lambda s, t: (s + w * sinc(t), None), 0.0, jnp.arange(3.0))[0]
args = w,
grad = jax.grad(loss)(*args)

#@ signs_beside_a_clip zero_derivative
w = jnp.array([0.2, 0.4])
def loss(w):
    return jnp.sum(jnp.sign(w) * jnp.abs(w).mean().clip(0.5, 0.5)) #! #- return jnp.sum(w * jnp.abs(w).mean())
args = w,
grad = jax.grad(loss)(*args)

#@ relu_written_with_where dead_relu
w = jnp.array([-1.0, -2.0])
def loss(w):
    return jnp.sum(jnp.where(w > 0, w, 0.0)) #! #- return jnp.sum(jnp.where(w > 0, w, 0.1 * w))
args = w,
grad = jax.grad(loss)(*args)

#@ overflow_hidden_by_a_share nan_forward
w = jnp.array([100.0, 1.0])
def loss(w):
    e = jnp.exp(w) #! #- e = jnp.exp(w / 100.0)
    return -jnp.log(e[1] / jnp.sum(e) + 1e-30)
args = w,
grad = jax.grad(loss)(*args)

#@ indices_of_a_condition boolean_index
w = jnp.array([1.0, -2.0, 3.0])
def loss(w):
    active = jnp.nonzero(w > 0)[0] #! #- active = jnp.arange(3)
    return jnp.sum(w[active] ** 2)
args = w,
grad = jax.grad(jax.jit(loss))(*args)

#@ a_pair_is_promised has_aux
w = jnp.array([1.0, 2.0])
options = {"has_aux": True} #- options = {}
def loss(w):
    return jnp.sum(w**2) #!
args = w,
grad = jax.grad(loss, **options)(*args)

#@ spectrum_without_abs refused
w = jnp.array([1.0, 2.0, 4.0])
def loss(w):
    return jnp.sum(jnp.fft.rfft(w) ** 2) #! #- return jnp.sum(jnp.abs(jnp.fft.rfft(w)) ** 2)
args = w,
grad = jax.grad(loss)(*args)

#@ forward_through_a_custom_vjp refused
w = jnp.array([1.0, 2.0])
@jax.custom_vjp
def clipped(x):
    return x**2
clipped.defvjp(lambda x: (x**2, x), lambda x, g: (g * 2.0 * x,))
def loss(w):
    slopes = jax.jacfwd(lambda v: jnp.sum(clipped(v)))(w) #! #- slopes = jax.grad(lambda v: jnp.sum(clipped(v)))(w)
    return jnp.sum(slopes**2)
args = w,
grad = jax.grad(loss)(*args)

#@ rule_for_one_of_two refused
w = jnp.array([1.0, 2.0])
@jax.custom_vjp
def norm(x, eps):
    return jnp.sqrt(jnp.sum(x**2) + eps)
def bwd(x, g):
    return (g * x,) #! #- return g * x, None
norm.defvjp(lambda x, eps: (norm(x, eps), x), bwd)
def loss(w):
    return norm(w, 1e-6)
args = w,
grad = jax.grad(loss)(*args)

#@ equals_instead_of_set refused
w = jnp.array([1.0, 2.0])
def loss(w):
    h = jnp.zeros(3)
    h.at[0] = w[1] #! #- h = h.at[0].set(w[1])
    return jnp.sum(h**2)
args = w,
grad = jax.grad(loss)(*args)

#@ set_and_thrown_away unused
w = jnp.array([1.0, 2.0])
def simulate(w):
    u = jnp.ones(4)
    u.at[0].set( #! #- u = u.at[0].set(
        w[0])
    return u
def loss(w):
    return jnp.sum(simulate(w) ** 2)
args = w,
grad = jax.grad(loss)(*args)

#@ old_state_of_a_scan unused
w = jnp.array([0.5, 0.2])
def cell(w, h):
    return jnp.tanh(h * w)
def loss(w):
    def step(h, x):
        new = cell(w, h) #! #- h = cell(w, h)
        return h, x
    return jnp.sum(lax.scan(step, jnp.ones(2), jnp.arange(3.0))[0])
args = w,
grad = jax.grad(loss)(*args)

#@ scale_on_self closure
class Process:
    def __init__(self):
        self.scale = jnp.array(0.5)
    def loss(self, x): #- def loss(self, scale):
        return jnp.sum(jnp.sin(x) / jnp.exp(self.scale)) #! #- return jnp.sum(jnp.sin(jnp.ones(2)) / jnp.exp(scale))
process = Process()
w, loss = process.scale, process.loss
args = jnp.ones(2), #- args = w,
grad = jax.grad(loss)(*args)

#@ whole_numbers_of_a_helper integer_dtype
def init(sizes):
    layers = []
    for n in sizes:
        layers.append({
            "w": jnp.ones(n),
            "b": jnp.arange(n), #! #- "b": jnp.arange(1.0 * n),
        })
    return layers
params = init([2, 2])
w = params[1]["b"]
def loss(params):
    return sum(jnp.sum(layer["w"] * layer["b"] ** 2) for layer in params)
args = params,
grad = jax.grad(loss)(*args)[1]["b"]
'''
