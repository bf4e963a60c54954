"""Programs whose gradient consists of zeros or NaNs. :mod:`torch_cases` describes the marks."""

CASES = """
#@ dead_relu dead_relu
w = jnp.array([[0.5, 0.1], [0.2, 0.3]])
def loss(w, x):
    h = jax.nn.relu(x @ w - 5.0) #! #- h = jax.nn.leaky_relu(x @ w - 5.0)
    return jnp.mean(h)
args = w, jnp.ones((3, 2))
grad = jax.grad(loss)(*args)
#@ saturated_sigmoid saturated
w = jnp.array([100.0, 200.0])
def loss(w):
    p = jax.nn.sigmoid(w * 10.0) #! #- p = jax.nn.sigmoid(w / 100.0)
    return jnp.mean((p - 0.3) ** 2)
args = w,
grad = jax.grad(loss)(*args)
#@ clipped_actions saturated
w = jnp.array([3.0, -4.0])
def loss(w):
    action = jnp.clip(w, -1.0, 1.0) #! #- action = jnp.tanh(w)
    return jnp.sum((action - 0.5) ** 2)
args = w,
grad = jax.grad(loss)(*args)
#@ maximum_takes_the_other not_selected
w = jnp.array([0.1, 0.2])
def loss(w, floor):
    return jnp.sum(jnp.maximum(w, floor)) #! #- return jnp.sum(jnp.logaddexp(w, floor))
args = w, jnp.array([1.0, 1.0])
grad = jax.grad(loss)(*args)
#@ masked_away zero_factor
w = jnp.array([1.0, 2.0])
def loss(w, mask):
    return jnp.sum(w**2 * mask) #!
args = w, jnp.zeros(2) #- args = w, jnp.ones(2)
grad = jax.grad(loss)(*args)
#@ difference_with_itself zero_sum
w = jnp.array([1.0, 2.0])
def loss(w, x):
    h = x * w
    return jnp.sum(h - h) #! #- return jnp.sum(h)
args = w, jnp.ones(2)
grad = jax.grad(loss)(*args)
#@ penalty_that_cancels_the_gradient_of_a_softmax zero_sum
w = jnp.zeros(2)
def loss(w):
    penalty = w @ jnp.array([0.25, -0.25]) #! #- penalty = w @ jnp.array([0.25, 0.25])
    return jax.nn.softmax(w)[0] - penalty
args = w,
grad = jax.grad(loss)(*args)
#@ where_hides_a_square_root nan_backward
w = jnp.array([0.0, 4.0])
def loss(w):
    safe = jnp.where(w > 0, w, 1.0)
    return jnp.sum(jnp.where(w > 0, jnp.sqrt(w), w)) #! #- return jnp.sum(jnp.where(w > 0, jnp.sqrt(safe), w))
args = w,
grad = jax.grad(loss)(*args)
#@ entropy_with_a_zero nan_forward
w = jnp.array([0.0, 0.4, 0.6])
def loss(w):
    logs = jnp.log(w) #! #- logs = jnp.log(jnp.maximum(w, 1e-6))
    return -jnp.sum(w * logs)
args = w,
grad = jax.grad(loss)(*args)
#@ softmax_by_hand nan_forward
w = jnp.array([89.0, 90.0])
def loss(w):
    e = jnp.exp(w) #! #- e = jnp.exp(w - jnp.max(w))
    return (e / jnp.sum(e))[0] * 3.0
args = w,
grad = jax.grad(loss)(*args)
#@ direction_of_a_length_that_is_zero nan_forward
w = jnp.array([[0.0, 0.0], [3.0, 4.0]])
def loss(w):
    length = jnp.linalg.norm(w, axis=1) #- length = jnp.linalg.norm(w + 1e-12, axis=1)
    heading = w[:, 0] / length #!
    return jnp.sum(heading) - jnp.sum(w[1])
args = w,
grad = jax.grad(loss)(*args)
#@ missing_values_in_the_data nan_input
w = jnp.array([1.0, 2.0])
def loss(w, x):
    return jnp.mean((x @ w) ** 2)
x = jnp.array([[1.0, jnp.nan], [2.0, 3.0]]) #! #- x = jnp.nan_to_num(jnp.array([[1.0, jnp.nan], [2.0, 3.0]]))
args = w, x
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
#@ one_over_zero nan_forward
w = jnp.array([1.0, 0.0])
def loss(w):
    r = 1.0 / w #! #- r = 1.0 / (w + 0.5)
    return jnp.sum(r)
args = w,
grad = jax.grad(loss)(*args)
#@ where_hides_a_division nan_backward
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
    masked = jnp.where(jnp.array([False, False]), w, -jnp.inf) #! #- masked = jnp.where(jnp.array([True, False]), w, \
-jnp.inf)
    p = masked - jnp.max(masked)
    return jnp.sum(jnp.exp(p) * w)
args = w,
grad = jax.grad(loss)(*args)
#@ hinge_satisfied dead_relu
w = jnp.array([5.0, 7.0])
def loss(w):
    return jnp.mean(jnp.maximum(0.0, 1.0 - w)) #! #- return jnp.mean(jax.nn.softplus(1.0 - w))
args = w,
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
#@ floor_divide zero_derivative
w = jnp.array([3.3, 7.8])
def loss(w):
    return jnp.sum(w // 2.0) #! #- return jnp.sum(w / 2.0)
args = w,
grad = jax.grad(loss)(*args)
#@ softmax_of_one_class zero_cancels
w = jnp.array([[0.3], [0.4]]) #- w = jnp.array([[0.3, 0.2], [0.4, 0.9]])
def loss(w):
    return -jnp.mean(jax.nn.log_softmax(w, -1)[:, 0]) #!
args = w,
grad = jax.grad(loss)(*args)
#@ distances_after_a_shift zero_sum
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
#@ signs_beside_a_clip zero_derivative
w = jnp.array([0.2, 0.4])
def loss(w):
    return jnp.sum(jnp.sign(w) * jnp.abs(w).mean().clip(0.5, 0.5)) #! #- return jnp.sum(w * jnp.abs(w).mean())
args = w,
grad = jax.grad(loss)(*args)
#@ second_derivative_of_a_relu zero_derivative
w = jnp.array([1.0, -2.0])
def u(w, x):
    return jnp.sum(jax.nn.relu(w * x + 0.1)) #! #- return jnp.sum(jnp.tanh(w * x + 0.1))
def loss(w):
    return (jax.grad(jax.grad(u, 1), 1)(w, 0.3) + 1.0) ** 2
args = w,
grad = jax.grad(loss)(*args)
#@ mask_times_infinity nan_forward
w = jnp.array([0.5, 0.1, 0.3])
mask = jnp.array([1.0, 1.0, 0.0])
def loss(w):
    s = w * mask + (1.0 - mask) * -jnp.inf #! #- s = w * mask + (1.0 - mask) * -1e9
    return jax.nn.softmax(s)[0]
args = w,
grad = jax.grad(loss)(*args)
#@ softplus_by_hand nan_forward
w = jnp.array(50.0)
x = jnp.array([1.0, 3.0])
def loss(w):
    return jnp.mean(jnp.log(1.0 + jnp.exp(w * x))) #! #- return jnp.mean(jax.nn.softplus(w * x))
args = w,
grad = jax.grad(loss)(*args)
#@ sigmoid_by_hand nan_backward
w = jnp.array(10.0)
x = jnp.array([-20.0, 1.0])
def loss(w):
    return jnp.mean(1.0 / (1.0 + jnp.exp(-x * w))) #! #- return jnp.mean(jax.nn.sigmoid(x * w))
args = w,
grad = jax.grad(loss)(*args)
"""
