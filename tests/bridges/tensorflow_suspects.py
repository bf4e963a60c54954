"""TensorFlow programs whose gradients exist but are wrong, and programs whose gradients only look wrong (connected).

:mod:`torch_cases` describes the format. Explanations are requested for the whole block.
"""

CASES = """
#@ broadcast broadcast
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.normal([12])
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))  #!
        #+ loss = tf.reduce_mean(tf.square(tf.squeeze(model(x), -1) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
#@ sigmoid_twice activation_twice
dense = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.Adam(0.01)
x, y = tf.random.normal([12, 4]), tf.cast(tf.random.uniform([12, 1]) > 0.5, tf.float32)
with tf.GradientTape() as tape:
    p = tf.sigmoid(dense(x))  #- p = dense(x)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=p))  #!
grads = tape.gradient(loss, dense.trainable_variables)
opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ labels_in_a_column_are_cast_on_the_line_of_the_loss broadcast
dense, opt = tf.keras.layers.Dense(1), tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.uniform([12, 1], maxval=5, dtype=tf.int32)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.squeeze(dense(x), -1) - tf.cast(y, tf.float32)))  #!
        #+ loss = tf.reduce_mean(tf.square(dense(x) - tf.cast(y, tf.float32)))
    grads = tape.gradient(loss, dense.trainable_variables)
    opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ a_table_of_differences_from_a_column_made_on_its_line connected
w, opt = tf.Variable([0.5, 1.5, 2.5]), tf.keras.optimizers.SGD(0.01)
places = tf.constant([1, 2, 4])
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w - tf.cast(places[:, tf.newaxis], tf.float32)))
    opt.apply_gradients([(tape.gradient(loss, w), w)])
#@ not_applied not_applied
dense = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.normal([12, 1])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(dense(x) - y))
    grads = tape.gradient(loss, dense.trainable_variables)  #!
    #+ opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ all_arguments_are_passed_by_keyword connected
dense = tf.keras.layers.Dense(units=1)
opt = tf.keras.mixed_precision.LossScaleOptimizer(inner_optimizer=tf.keras.optimizers.SGD(learning_rate=0.01))
x, mse = tf.random.normal([12, 4]), tf.keras.losses.MeanSquaredError()
for step in range(4):
    with tf.GradientTape() as tape:
        tape.watch(tensor=x)
        loss = mse(y_true=tf.ones([12, 1]), y_pred=dense(x))
        scaled = opt.scale_loss(loss=loss)
    grads = tape.gradient(target=scaled, sources=dense.trainable_variables)
    if step % 2:
        opt.apply_gradients(grads_and_vars=zip(grads, dense.trainable_variables))
    else:
        opt.apply(grads=grads, trainable_variables=dense.trainable_variables)
#@ gradients_that_are_summed_for_a_later_step connected
dense = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.SGD(0.01)
x, y, total = tf.random.normal([12, 4]), tf.random.normal([12, 1]), [tf.zeros([4, 1]), tf.zeros([1])]
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(dense(x) - y))
    total = [t + g / 8.0 for t, g in zip(total, tape.gradient(loss, dense.trainable_variables))]
#@ gradients_that_a_variable_collects connected
w, total = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0], trainable=False)
opt = tf.keras.optimizers.SGD(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    total.assign_add(tape.gradient(loss, w))
#@ not_optimized not_optimized
enc, dec = tf.keras.layers.Dense(3, activation="tanh"), tf.keras.layers.Dense(4)
opt = tf.keras.optimizers.SGD(0.01)
x = tf.random.normal([12, 4])
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(dec(enc(x)) - x))
    variables = enc.trainable_variables + dec.trainable_variables
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(list(zip(grads, variables))[2:])  #! #- opt.apply_gradients(list(zip(grads, variables)))
#@ vanishing vanishing
layers = [tf.keras.layers.Dense(16, activation="sigmoid") for _ in range(14)] + [tf.keras.layers.Dense(1)]
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 16]), tf.random.normal([12, 1])
with tf.GradientTape() as tape:
    h = x
    for layer in layers:
        h = layer(h)  #! #- h = h + 0.1 * tf.tanh(layer(h))
    loss = tf.reduce_mean(tf.square(h - y))
variables = [v for l in layers for v in l.trainable_variables]
grads = tape.gradient(loss, variables)
opt.apply_gradients(zip(grads, variables))
#@ exploding exploding
w = tf.Variable(tf.random.normal([12, 12]))  #- w = tf.Variable(tf.linalg.qr(tf.random.normal([12, 12]))[0])
u = tf.Variable(tf.random.normal([4, 12]) * 0.1)
opt = tf.keras.optimizers.SGD(1e-4)
x = tf.random.normal([5, 30, 4])
with tf.GradientTape() as tape:
    h = tf.zeros([5, 12])
    for t in range(30):
        h = tf.matmul(x[:, t], u) + tf.matmul(h, w)  #!
    loss = tf.reduce_mean(tf.square(h))
grads = tape.gradient(loss, [w, u])
opt.apply_gradients(zip(grads, [w, u]))
#@ softmax_mean rounding_only
dense = tf.keras.layers.Dense(5)
opt = tf.keras.optimizers.SGD(0.01)
x = tf.random.normal([12, 4])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(dense(x))  #! #- p = tf.nn.sigmoid(dense(x))
    loss = -tf.reduce_mean(tf.math.log(tf.reduce_sum(p, -1)))
grads = tape.gradient(loss, dense.trainable_variables)
opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ lr exploding
dense = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.SGD(30.0)  #- opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.normal([12, 1])
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(dense(x) - y))
    grads = tape.gradient(loss, dense.trainable_variables)
    opt.apply_gradients(zip(grads, dense.trainable_variables))  #!
#@ numpy_term in_part
dense = tf.keras.layers.Dense(4)
opt = tf.keras.optimizers.SGD(0.01)
x = tf.random.normal([12, 4])
with tf.GradientTape() as tape:
    h = dense(x)
    penalty = float(tf.reduce_mean(tf.abs(h)))  #! #- penalty = tf.reduce_mean(tf.abs(h))
    loss = tf.reduce_mean(tf.square(h - x)) + 0.1 * penalty
grads = tape.gradient(loss, dense.trainable_variables)
opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ weights_as_arrays_in_a_penalty in_part
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.normal([12, 1])
with tf.GradientTape() as tape:
    penalty = tf.add_n([tf.nn.l2_loss(w) for w in model.get_weights()])  #!
    #+ penalty = tf.add_n([tf.nn.l2_loss(w) for w in model.trainable_variables])
    loss = tf.reduce_mean(tf.square(model(x) - y)) + 0.1 * penalty
grads = tape.gradient(loss, model.trainable_variables)
opt.apply_gradients(zip(grads, model.trainable_variables))
#@ healthy_keras connected
layers = [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.BatchNormalization()]
model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(3)])
opt = tf.keras.optimizers.Adam(0.01)
x, y = tf.random.normal([12, 4]), tf.random.uniform([12], maxval=3, dtype=tf.int32)
for _ in range(2):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, out, from_logits=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
#@ pairwise connected
dense = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.normal([12])
with tf.GradientTape() as tape:
    s = tf.squeeze(dense(x), -1)
    loss = tf.reduce_mean(tf.nn.relu(1 - (s[:, None] - s) * tf.sign(y[:, None] - y)))
grads = tape.gradient(loss, dense.trainable_variables)
opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ frozen connected
base = tf.keras.layers.Dense(8, activation="relu"); base.trainable = False
head = tf.keras.layers.Dense(3)
opt = tf.keras.optimizers.Adam(0.01)
x, y = tf.random.normal([12, 4]), tf.random.uniform([12], maxval=3, dtype=tf.int32)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, head(base(x))))
    grads = tape.gradient(loss, head.trainable_variables)
    opt.apply_gradients(zip(grads, head.trainable_variables))
#@ fit connected
tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse", run_eagerly=True)
model.fit(tf.random.normal([32, 4]), tf.random.normal([32, 1]), epochs=1, batch_size=16, verbose=0)
#@ two_optimizers connected
G, D = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
og, od = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
for _ in range(2):
    with tf.GradientTape() as td:
        fake = G(tf.random.normal([8, 3]))
        ld = bce(tf.ones([8, 1]), D(tf.random.normal([8, 2]))) + bce(tf.zeros([8, 1]), D(fake))
    od.apply_gradients(zip(td.gradient(ld, D.trainable_variables), D.trainable_variables))
    with tf.GradientTape() as tg:
        lg = bce(tf.ones([8, 1]), D(G(tf.random.normal([8, 3]))))
    og.apply_gradients(zip(tg.gradient(lg, G.trainable_variables), G.trainable_variables))
#@ entropy connected
dense = tf.keras.layers.Dense(5)
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.uniform([12], maxval=5, dtype=tf.int32)
with tf.GradientTape() as tape:
    logits = dense(x)
    p = tf.nn.softmax(logits)
    ent = -tf.reduce_mean(tf.reduce_sum(p * tf.nn.log_softmax(logits), -1))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)) - 0.01 * ent
grads = tape.gradient(loss, dense.trainable_variables)
opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ no_learning_rate not_applied
w = tf.Variable([1.0, 2.0], name="w")
opt = tf.keras.optimizers.SGD(0.0)  #- opt = tf.keras.optimizers.SGD(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    opt.apply_gradients([(tape.gradient(loss, w), w)])  #!
#@ sigmoid_twice_by_hand activation_twice
dense = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.Adam(0.01)
x, y = tf.random.normal([12, 4]), tf.cast(tf.random.uniform([12, 1]) > 0.5, tf.float32)
with tf.GradientTape() as tape:
    z = tf.sigmoid(dense(x))  #- z = dense(x)
    loss = tf.reduce_mean(tf.math.softplus(-z) + (1 - y) * z)  #!
grads = tape.gradient(loss, dense.trainable_variables)
opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ another_model_is_evaluated connected
old, new = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.SGD(0.01)
x, y = tf.random.normal([12, 4]), tf.random.normal([12, 1])
error = tf.reduce_mean((old(x) - y) ** 2)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((new(x) - y) ** 2)
    grads = tape.gradient(loss, new.trainable_variables)
    opt.apply_gradients(zip(grads, new.trainable_variables))
#@ slow_copies_of_actor_and_critic connected
fast, slow = tf.keras.layers.Dense(2), tf.keras.layers.Dense(2)
fast.build((None, 4)); slow.build((None, 4)); slow.set_weights(fast.get_weights())
actor = tf.keras.layers.Dense(4); opt, other = tf.keras.optimizers.Adam(0.01), tf.keras.optimizers.Adam(0.01)
for _ in range(2):
    x = tf.random.normal([8, 4])
    goal = 1.0 + 0.9 * tf.stop_gradient(tf.reduce_max(slow(actor(x)), 1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.reduce_max(fast(x), 1) - goal) ** 2)
    grads = tape.gradient(loss, fast.trainable_variables)
    opt.apply_gradients(zip(grads, fast.trainable_variables))
    with tf.GradientTape() as tape:
        gain = -tf.reduce_mean(fast(actor(x)))
    grads = tape.gradient(gain, actor.trainable_variables)
    other.apply_gradients(zip(grads, actor.trainable_variables))
    for old, new in zip(slow.variables, fast.variables):
        old.assign(0.9 * old + 0.1 * new)
#@ two_tables_of_one_loss broadcast
dense = tf.keras.layers.Dense(1)
opt = tf.keras.optimizers.SGD(0.01)
x, time, seen = tf.random.normal([12, 4]), tf.random.uniform([12]), tf.ones([12]) / 2.0
with tf.GradientTape() as tape:
    rate = dense(x) #- rate = tf.squeeze(dense(x), -1)
    loss = tf.reduce_mean(tf.exp(rate) * time - seen * rate) #!
grads = tape.gradient(loss, dense.trainable_variables)
opt.apply_gradients(zip(grads, dense.trainable_variables))
#@ new_tensors_in_a_loop_over_variables not_applied
w, b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
x, y = tf.random.normal([8, 2]), tf.random.normal([8, 1])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w + b - y) ** 2)
    for v, g in zip([w, b], tape.gradient(loss, [w, b])):
        v = v - 0.1 * g #! #- v.assign_sub(0.1 * g)
#@ momentum_whose_step_is_made_in_a_function not_applied
layers = [tf.Variable(tf.random.normal([2, 4])), tf.Variable(tf.random.normal([4, 1]))]
speed = [tf.zeros_like(v) for v in layers]
def step(grads):
    for k, g in enumerate(grads):
        speed[k] = 0.9 * speed[k] + g
        moved = tf.subtract(layers[k], 0.01 * speed[k]) #! #- layers[k].assign_sub(0.01 * speed[k])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(tf.ones([3, 2]) @ layers[0]) @ layers[1] - 1.0) ** 2)
    step(tape.gradient(loss, layers))
#@ a_list_is_made_of_new_tensors not_applied
params = tf.Variable(1.0), tf.Variable(0.0)
def step(vs, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((vs[0] * x + vs[1] - 2.0) ** 2)
    grads = tape.gradient(loss, vs)
    vs = [v - 0.1 * g for v, g in zip(vs, grads)] #! #- [v.assign_sub(0.1 * g) for v, g in zip(vs, grads)]
    return loss
losses = [float(step(params, tf.linspace(0.0, 1.0, 9))) for _ in range(3)]
#@ candidates_that_are_printed connected
w = tf.Variable([1.0, 2.0])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    g = tape.gradient(loss, w)
    print(w - 0.1 * g)
    candidate = w - 0.2 * g
    print(candidate, float(tf.norm(0.1 * g) / tf.norm(w)))
    same = w - 0.5 * g
    tf.debugging.assert_near(same, tf.zeros(2))
#@ a_line_search connected
w = tf.Variable([1.0, 2.0])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w ** 4)
    g, t = tape.gradient(loss, w), 1.0
    trial = w - t * g
    while tf.reduce_sum(trial ** 4) > loss:
        t *= 0.5
        trial = w - t * g
    print(t)
#@ what_each_task_makes_of_the_weights_is_kept connected
w, tasks = tf.Variable([1.0, 2.0]), []
for task in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - float(task)) ** 2)
    g = tape.gradient(loss, w)
    adapted = w - 0.1 * g
    tasks.append(adapted)
#@ an_inner_step_that_is_used connected
w, opt = tf.Variable([1.0, 2.0]), tf.keras.optimizers.SGD(0.01)
for _ in range(3):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum(w ** 3)
        g = inner.gradient(loss, w)
        fast = w - 0.1 * g
        meta = tf.reduce_sum((fast - 1.0) ** 2)
    opt.apply_gradients([(outer.gradient(meta, w), w)])
#@ a_mean_of_gradients_and_a_step_by_hand connected
w, mean = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0], trainable=False)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    g = tape.gradient(loss, w)
    mean.assign(0.9 * mean + 0.1 * g)
    new = w - 0.1 * mean
    w.assign(new)
#@ the_slope_is_compared_with_a_formula connected
w = tf.Variable([1.0, 2.0])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w ** 3)
    difference = tape.gradient(loss, w) - 3.0 * w ** 2
    print(float(tf.reduce_max(tf.abs(difference))))
"""
