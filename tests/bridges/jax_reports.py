"""More programs, based on reports in issue trackers. :mod:`torch_cases` describes the marks."""

CASES = """
#@ neither_branch_goes_on_with_it branch
w = jnp.array(600.0)
def is_elastic(strain):
    if strain < 0.02: #!
        return jnp.array(1.0) #- return jax.nn.sigmoid(500.0 * (0.02 - strain))
    return jnp.array(0.0) #- return jax.nn.sigmoid(500.0 * (0.02 - strain))
def loss(w):
    return sum(is_elastic(s) for s in jnp.array([5.0, 9.0, 14.0]) / w)
args = w,
grad = jax.grad(loss)(*args)
#@ straight_through_cut_as_a_whole stop_gradient
w = jnp.array([0.3, 1.8, 2.1])
def loss(w):
    codes = jax.lax.stop_gradient(w + (jnp.round(w) - w)) #! #- codes = w + jax.lax.stop_gradient(jnp.round(w) - w)
    return jnp.sum((codes - 0.3) ** 2)
args = w,
grad = jax.grad(loss)(*args)
#@ one_hot_of_argmax no_derivative
w = jnp.array([0.3, 0.8, 0.1])
def loss(w):
    hard = jax.nn.one_hot(jnp.argmax(w), 3) #! #- hard = jax.nn.softmax(w)
    return jnp.dot(hard, jnp.array([1.0, 2.0, 4.0]))
args = w,
grad = jax.grad(loss)(*args)
#@ int_of_tracer_shape left_jax
w = jnp.array([3.0, 7.0])
def loss(w):
    n = int(jnp.sum(w > 1.0)) #! #- n = 2
    return jnp.sum(w[:n])
args = w,
grad = jax.jit(jax.grad(loss))(*args)
#@ assert_on_value branch
w = jnp.array([3.0, 7.0])
def loss(w):
    assert jnp.all(w > 0) #! #-
    return jnp.sum(jnp.log(w))
args = w,
grad = jax.jit(jax.grad(loss))(*args)
#@ switch_other other_branch
w = jnp.array(0.5)
def loss(w, k):
    return lax.switch(k, [lambda w: w * 0.0 + 1.0, lambda w: 1.0, lambda w: w ** 2], w) #!
args = w, 1 #- args = w, 2
grad = jax.grad(loss)(*args)
#@ dict_state_unused unused
params = {"w": jnp.ones(2), "scale": jnp.ones(())}
w = params["scale"]
def loss(params, x): #!
    y = x * params["w"]
    return jnp.sum(y) #- return jnp.sum(y) * params["scale"]
args = params, jnp.ones(2)
grad = jax.grad(loss)(*args)["scale"]
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
#@ indices_of_a_condition boolean_index
w = jnp.array([1.0, -2.0, 3.0])
def loss(w):
    active = jnp.nonzero(w > 0)[0] #! #- active = jnp.arange(3)
    return jnp.sum(w[active] ** 2)
args = w,
grad = jax.grad(jax.jit(loss))(*args)
#@ rule_for_one_of_two refused
w = jnp.array([1.0, 2.0])
@jax.custom_vjp
def energy(x, eps):
    return (jnp.sum(x**2) + eps) / 2
def bwd(x, g):
    return (g * x,) #! #- return g * x, None
energy.defvjp(lambda x, eps: (energy(x, eps), x), bwd)
def loss(w):
    return energy(w, 1e-6)
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
    return jnp.tanh(h * w) #!
def loss(w):
    def step(h, x):
        new = cell(w, h) #- h = cell(w, h)
        return h, x
    return jnp.sum(lax.scan(step, jnp.ones(2), jnp.arange(3.0))[0])
args = w,
grad = jax.grad(loss)(*args)
#@ parameters_of_the_state_around closure
from types import SimpleNamespace
def forward(params, x):
    return jnp.sum(jnp.tanh(x @ params["w"] + params["b"]))
state = SimpleNamespace(params={"w": jnp.ones((2, 2)), "b": jnp.ones(2)})
w = state.params["w"]
def loss(params):
    return forward(state.params, jnp.ones((3, 2))) #! #- return forward(params, jnp.ones((3, 2)))
args = state.params,
grad = jax.grad(loss)(*args)["w"]
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
            "b": jnp.arange(n), #- "b": jnp.arange(1.0 * n),
        })
    return layers
params = init([2, 2]) #!
w = params[1]["b"]
def loss(params):
    return sum(jnp.sum(layer["w"] * layer["b"] ** 2) for layer in params)
args = params,
grad = jax.grad(loss)(*args)[1]["b"]
#@ values_that_occur left_jax
w = jnp.array([0.71, 0.22, 0.71])
def loss(w):
    u = jnp.unique(w) #! #- u = jnp.sort(w)
    return jnp.sum(u ** 2)
args = w,
grad = jax.grad(loss)(*args)
#@ carry_changes_its_shape refused
w = jnp.array(0.7)
def loss(w):
    def step(c, x):
        return jnp.append(c, w * x), x #- return c + w * x, x
    total, _ = lax.scan(step, jnp.zeros(1), jnp.array([1.0, 2.0])) #!
    return jnp.sum(total)
args = w,
grad = jax.grad(loss)(*args)
#@ arrays_of_an_object unused
class Net:
    w = jnp.arange(9.0) - 3.5
    def score(self, x):
        return jnp.tanh(x @ self.w) #- return jnp.tanh(x @ self.now)
net = Net(); w = 0.9 * net.w
def loss(w, x): #!
    net.now = w; return jnp.mean(net.score(x))
args = w, jax.random.normal(jax.random.key(0), (6, 9))
grad = jax.grad(loss)(*args)
"""
