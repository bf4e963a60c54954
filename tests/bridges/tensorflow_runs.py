"""TensorFlow and Keras programs whose mistakes show in the run: in the loss, in an error or in what is trained.

:mod:`torch_cases` describes the format. The shared first lines are in :mod:`test_program_runs`.
"""

CASES = """
#@ the_loss_is_nan_though_its_gradients_are_finite nonfinite_value
w = tf.Variable([0.0, 1.0, 2.0])
with tf.GradientTape() as tape:
    penalty = tf.math.log(tf.constant(-1.0))  #!  #- penalty = tf.math.log(tf.constant(8.0))
    loss = tf.reduce_mean((w - 1.5) ** 2) + penalty
print(tape.gradient(loss, w), loss)
#@ the_call_that_raised_is_explained_and_no_other target_not_tensor
a, b = tf.Variable(1.0), tf.Variable(1.0)
early = a * a  #- early = 2.0
with tf.GradientTape() as tape:
    loss = b * early
    number = float(loss)  #- number = loss
tape.gradient(number, b)
#@ a_loss_becomes_nan_after_the_recorded_steps nonfinite_value
w = tf.Variable(tf.ones(3))
for number in range(14):
    factor = float(number != 11)
    with tf.GradientTape() as tape:
        loss = tf.sqrt(tf.reduce_sum((w * factor) ** 2))  #- loss = tf.sqrt(tf.reduce_sum((w * factor) ** 2) + 1e-9)
    w.assign_sub(0.01 * tape.gradient(loss, w))
#@ a_compiled_step_makes_a_variable_nan_later nonfinite_value
import keras
inputs = np.random.default_rng(0).normal(size=(48, 3)).astype("float32")
inputs[41] = 0
def length(y_true, y_pred):
    return tf.sqrt(tf.reduce_sum((y_true * y_pred) ** 2, 1))  #- return tf.reduce_sum((y_true * y_pred) ** 2, 1)
model = keras.Sequential([keras.layers.Dense(3)])
model.compile(keras.optimizers.SGD(1e-3), length)
model.fit(inputs, inputs, batch_size=4, shuffle=False, verbose=0)
#@ a_variable_that_its_layer_does_not_track not_optimized
import keras
class Gain(keras.layers.Layer):
    def build(self, shape):
        self.gains = []
        self.gains.append(tf.Variable(tf.ones(shape[-1:])))  #!  #- self.gains.append(self.add_weight(shape=shape[-1:]))
    def call(self, x):
        return x * self.gains[0]
model = keras.Sequential([Gain(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), epochs=2, verbose=0)
#@ a_variable_that_is_not_to_be_trained connected
import keras
class Gain(keras.layers.Layer):
    def build(self, shape):
        self.gain = tf.Variable(tf.ones(shape[-1:]), trainable=False)
    def call(self, x):
        return x * self.gain
model = keras.Sequential([Gain(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), epochs=2, verbose=0)
#@ a_variable_that_the_program_assigns connected
import keras
class Gain(keras.layers.Layer):
    def build(self, shape):
        self.gain = tf.Variable(tf.ones(shape[-1:]))
    def call(self, x):
        return x * self.gain
layer = Gain()
model = keras.Sequential([layer, keras.layers.Dense(1)])
model.compile("sgd", "mse")
for _ in range(2):
    model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), verbose=0)
    layer.gain.assign([2.0, 2.0, 2.0])
#@ a_function_keeps_a_number_of_its_trace stale_value
w, rate = tf.Variable([1.0, 2.0]), 0.0
@tf.function
def step(rate_now):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    w.assign_sub(rate * tape.gradient(loss, w))  #!  #- w.assign_sub(rate_now * tape.gradient(loss, w))
for rate in (0.1, 0.2, 0.3):
    step(tf.constant(rate))
#@ a_batch_is_chosen_while_the_function_is_traced stale_value
points = tf.constant(np.arange(24.0, dtype="float32").reshape(8, 3))
w = tf.Variable([0.5, 0.0, 0.0])
@tf.function
def step():
    rows = np.random.permutation(8)[:4]  #!  #- rows = tf.random.shuffle(tf.range(8))[:4]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.gather(points, rows) @ w[:, None] - 1.0) ** 2)
    w.assign_sub(0.001 * tape.gradient(loss, w))
for _ in range(7):
    step()
#@ a_generator_scales_inputs_while_a_callee_is_traced stale_value
import keras
rng = np.random.default_rng(3)
def scale(size):
    return rng.uniform(0.5, 1.5, size).astype("float32")  #!  #- return tf.random.uniform([size], 0.5, 1.5)
dense = keras.layers.Dense(1)
dense.build((None, 3))
optimizer = keras.optimizers.SGD(0.01)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((dense(x * scale(3)) - 1.0) ** 2)
    optimizer.apply(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables)
for _ in range(7):
    step(tf.random.normal((8, 3)))
#@ a_function_of_numpy_draws_in_each_call connected
w, rng = tf.Variable(tf.ones(3)), np.random.default_rng(0)
def draw():
    return np.random.normal(size=3).astype("float32")
start = None
@tf.function
def step():
    global start
    if start is None:
        start = tf.Variable(rng.normal(size=3).astype("float32"))
    noise = tf.ensure_shape(tf.numpy_function(draw, [], tf.float32), [3])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w + noise - start) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
for _ in range(7):
    step()
#@ a_step_counts_only_its_trace stale_value
class Trainer:
    def __init__(self):
        self.w, self.calls = tf.Variable(tf.ones(3)), 0  #- self.w, self.calls = tf.Variable(tf.ones(3)), tf.Variable(0)
    @tf.function
    def step(self):
        self.calls += 1  #!  #- self.calls.assign_add(1)
        rate = 0.1 / self.calls  #- rate = 0.1 / tf.cast(self.calls, tf.float32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((self.w - 3.0) ** 2)
        self.w.assign_sub(rate * tape.gradient(loss, self.w))
trainer = Trainer()
for _ in range(7):
    trainer.step()
#@ a_step_counts_its_traces_on_purpose connected
import keras
class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense, self.traces = keras.layers.Dense(1), 0
    def call(self, x):
        return self.dense(x)
    def train_step(self, data):
        self.traces += 1
        return super().train_step(data)
model = Model()
model.compile("sgd", "mse")
model.fit(np.ones((64, 3), "float32"), np.ones((64, 1), "float32"), batch_size=8, verbose=0)
#@ an_optimizer_is_replaced_after_the_trace stale_value
import keras
w, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(0.1)
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    optimizer.apply([tape.gradient(loss, w)], [w])  #!
for number in range(9):
    if number == 7:
        optimizer = keras.optimizers.SGD(0.01)  #- optimizer.learning_rate.assign(0.01)
    step()
#@ layers_are_trained_again_without_compile stale_value
import keras
base = keras.layers.Dense(3, trainable=False)
model = keras.Sequential([keras.Input((3,)), base, keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), verbose=0)
base.trainable = True  #!
#+ model.compile("sgd", "mse")
model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), verbose=0)
#@ a_second_model_is_trained_again_without_compile stale_value
import keras
x, y = np.ones((16, 3), "float32"), np.ones((16, 1), "float32")
base = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
first, second = (keras.Sequential([base, keras.layers.Dense(1)]) for _ in range(2))
first.compile("sgd", "mse")
first.fit(x, y, batch_size=2, verbose=0)
base.trainable = False
second.compile("sgd", "mse")
second.fit(x, y, batch_size=4, verbose=0)
base.trainable = True  #!
#+ second.compile("sgd", "mse")
second.fit(x, y, batch_size=4, verbose=0)
#@ a_model_is_evaluated_before_it_is_compiled_again connected
import keras
x, y = np.ones((16, 3), "float32"), np.ones((16, 1), "float32")
base = keras.layers.Dense(3, trainable=False)
model = keras.Sequential([keras.Input((3,)), base, keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, batch_size=2, verbose=0)
model.evaluate(x, y, verbose=0)
base.trainable = True
model.evaluate(x, y, verbose=0)
model.compile("sgd", "mse")
model.fit(x, y, batch_size=2, verbose=0)
#@ each_step_creates_an_optimizer optimizer_remade
import keras
w = tf.Variable([1.0, 2.0])
optimizer = keras.optimizers.Adam(0.1)
for number in range(5):
    optimizer = keras.optimizers.Adam(0.1)  #!  #- pass
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
#@ plain_descent_may_be_created_again connected
import keras
w = tf.Variable([1.0, 2.0])
for number in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    keras.optimizers.SGD(0.1 / (number + 1)).apply_gradients([(tape.gradient(loss, w), w)])
#@ a_loss_is_scaled_twice scaler
dense, x, y = tf.keras.layers.Dense(1), tf.ones([4, 3]), tf.ones([4, 1])
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(1e-6), initial_scale=128.0)
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.reduce_mean(tf.square(dense(x) - y)))
        scaled = optimizer.scale_loss(loss)  #!  #- scaled = loss
    optimizer.apply_gradients(zip(tape.gradient(scaled, dense.trainable_variables), dense.trainable_variables))
for _ in range(3):
    step()
#@ two_losses_of_a_step_are_scaled connected
dense, x, y = tf.keras.layers.Dense(1), tf.ones([4, 3]), tf.ones([4, 1])
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(1e-3), initial_scale=128.0)
for _ in range(3):
    with tf.GradientTape() as tape:
        error = optimizer.scale_loss(tf.reduce_mean(tf.square(dense(x) - y)))
        loss = error + optimizer.scale_loss(0.01 * tf.nn.l2_loss(dense.kernel))
    optimizer.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))
#@ a_loss_that_is_not_scaled scaler
import keras
w = keras.Variable([1.0, 2.0])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
        #+ loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(loss, [w.value])  #!
    optimizer.apply(gradients, [w])
#@ a_regularizer_that_the_target_lacks in_part
import keras
layer = keras.layers.Dense(1, kernel_regularizer="l2")
optimizer, compute_error = keras.optimizers.SGD(0.1), keras.losses.MeanSquaredError()
for step in range(3):
    with tf.GradientTape() as tape:
        loss = compute_error(tf.ones((4, 1)), layer(tf.ones((4, 3))))  #!
        #+ loss = loss + sum(layer.losses)
    gradients = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply(gradients, layer.trainable_variables)
#@ a_variable_of_the_loss_is_in_no_optimizer not_optimized
import keras
scale = tf.Variable(1.0, trainable=True)  #!
layer, optimizer = keras.layers.Dense(1), keras.optimizers.SGD(0.1)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(tf.ones((4, 3))) * scale - 1.0) ** 2)
    variables = layer.trainable_variables  #- variables = [*layer.trainable_variables, scale]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
#@ a_tape_is_asked_twice refused
import keras
a, b = tf.Variable(1.0), tf.Variable(2.0)
optimizer = keras.optimizers.SGD(0.1)
for step in range(3):
    with tf.GradientTape() as tape:  #- with tf.GradientTape(persistent=True) as tape:
        first, second = (a - 3.0) ** 2, (b - 3.0) ** 2
    optimizer.apply_gradients([(tape.gradient(first, a), a)])
    b.assign_sub(0.1 * tape.gradient(second, b))  #!
#@ one_optimizer_for_two_models refused
import keras
optimizer = keras.optimizers.Adam(0.1)
for start in (1.0, 2.0):
    w = tf.Variable([start, start])
    #+ optimizer = keras.optimizers.Adam(0.1)
    for step in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w - 3.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])  #!
#@ a_list_keeps_tensors_of_a_function refused
w, losses = tf.Variable([1.0, 2.0]), []
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    losses.append(loss)  #- return loss
for _ in range(3):
    step()  #- losses.append(step())
print(float(losses[-1]))  #!
#@ a_function_reads_a_number_while_it_is_traced refused
w = tf.Variable([1.0, 2.0])
@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss.numpy()  #!  #- return loss
for _ in range(3):
    step()
#@ whole_numbers_for_a_loss_of_one_hot_labels refused
import keras
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "categorical_crossentropy")  #- model.compile("sgd", "sparse_categorical_crossentropy")
model.fit(np.random.rand(16, 4), np.arange(16) % 3, verbose=0)  #!
#@ a_softmax_over_a_single_unit_passes_back_rounding_errors zero_cancels
import keras, warnings
warnings.simplefilter("ignore")  # Keras warns of this softmax itself.
keras.utils.set_random_seed(0)
unit = keras.layers.Dense(1, activation="softmax")  #- unit = keras.layers.Dense(1, activation="sigmoid")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), unit])
model.compile(keras.optimizers.Adam(5e-3), "mse")
x = np.random.default_rng(0).normal(size=(80, 4)).astype("float32")
model.fit(x, (x[:, :1] > 0).astype("float32"), batch_size=20, verbose=0)  #!
#@ an_element_of_a_tensor_is_assigned refused
w = tf.Variable([1.0, 2.0])
for _ in range(3):
    with tf.GradientTape() as tape:
        y = w * 2.0
        y[0] = 1.0  #!  #- y = tf.tensor_scatter_nd_update(y, [[0]], [1.0])
        loss = tf.reduce_sum((y - 3.0) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
#@ logits_for_a_loss_of_probabilities loss_input
import keras
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
loss = "sparse_categorical_crossentropy"  #- loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("sgd", loss)  #!
model.fit(9.0 * np.random.rand(16, 4), np.arange(16) % 3, verbose=0)
#@ labels_of_minus_one_and_one_for_a_binary_cross_entropy loss_input
import keras
x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
y = np.where(x[:, 0] > 0, 1.0, -1.0)  #- y = np.where(x[:, 0] > 0, 1.0, 0.0)
model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
model.compile("sgd", "binary_crossentropy")  #!
model.fit(x, y, batch_size=16, verbose=0)
#@ class_numbers_for_a_binary_cross_entropy_of_logits loss_input
dense, opt = tf.keras.layers.Dense(1), tf.keras.optimizers.SGD(0.1)
x = tf.random.normal([12, 4])
y = tf.constant([[0.0], [1.0], [2.0]] * 4)  #- y = tf.constant([[0.0], [1.0], [0.5]] * 4)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(logits=dense(x), labels=y)  #!
        loss = tf.reduce_mean(losses)
    opt.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))
for _ in range(3):
    step(x, y)
#@ noisy_labels_of_a_discriminator connected
dense, opt = tf.keras.layers.Dense(1), tf.keras.optimizers.SGD(0.1)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = bce(tf.random.uniform([12, 1], 0.8, 1.2), dense(tf.random.normal([12, 4])))
    opt.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))
#@ advantages_times_one_hot_actions_are_labels connected
import keras
x, advantages = np.eye(4, dtype="float32"), np.array([[2.0], [-1.5], [0.5], [-3.0]], "float32")
model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "categorical_crossentropy")
model.fit(x, advantages * np.eye(3, dtype="float32")[[0, 1, 2, 0]], verbose=0)
#@ a_variable_has_a_value_in_one_branch_only refused
w, x = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
@tf.function
def step():
    with tf.GradientTape() as tape:
        #+ penalty = 0.0
        if tf.reduce_mean(w * x) > 0.0:  #!
            penalty = tf.reduce_sum(w ** 2)
        loss = tf.reduce_sum(w * x) + penalty
    w.assign_sub(0.01 * tape.gradient(loss, w))
step()
#@ a_state_grows_in_a_loop refused
w, x = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
@tf.function
def step():
    with tf.GradientTape() as tape:
        state = w * x
        for _ in tf.range(3):  #!
            state = tf.concat([state, w], 0)  #- state = state + w
        loss = tf.reduce_sum(state)
    w.assign_sub(0.01 * tape.gradient(loss, w))
step()
#@ class_numbers_begin_with_one refused
dense, opt = tf.keras.layers.Dense(3), tf.keras.optimizers.SGD(0.1)
def compute_loss(labels, logits):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)  #!
    return tf.reduce_mean(losses)
@tf.function
def step(x, labels):
    with tf.GradientTape() as tape:
        loss = compute_loss(labels, dense(x))
    opt.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))
for _ in range(3):
    step(tf.ones([3, 4]), tf.constant([1, 2, 3]))  #- step(tf.ones([3, 4]), tf.constant([0, 1, 2]))
#@ labels_and_prediction_are_swapped loss_input
import keras
layer, optimizer = keras.layers.Dense(3, activation="softmax"), keras.optimizers.SGD(0.1)
labels, criterion = tf.one_hot([0, 1, 2, 0], 3), keras.losses.CategoricalCrossentropy()
for step in range(3):
    with tf.GradientTape() as tape:
        prediction = layer(tf.ones((4, 2)) * [[1.0], [2.0], [3.0], [4.0]])
        loss = criterion(prediction, labels)  #!  #- loss = criterion(labels, prediction)
    optimizer.apply(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables)
#@ a_student_learns_from_a_trained_teacher connected
import keras
teacher, student = (keras.layers.Dense(3, activation="softmax") for _ in range(2))
optimizer = keras.optimizers.SGD(0.1)
x = tf.ones((4, 2)) * [[1.0], [2.0], [3.0], [4.0]]
teacher(x), student(x)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = keras.losses.CategoricalCrossentropy()(teacher(x), student(x))
        loss += keras.losses.CategoricalCrossentropy()(tf.one_hot([0, 1, 2, 0], 3), teacher(x))
    variables = [*teacher.trainable_variables, *student.trainable_variables]
    optimizer.apply(tape.gradient(loss, variables), variables)
#@ a_model_learns_from_the_gradients_of_its_copies connected
import keras
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.05)
x = tf.ones((4, 2)) * [[1.0], [2.0], [3.0], [4.0]]
for step in range(4):
    task = keras.models.clone_model(model)
    task.set_weights(model.get_weights())
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((task(x) - 1.0) ** 2)
        gradients = tape.gradient(loss, task.trainable_variables)
        for variable, gradient in zip(task.trainable_variables, gradients):
            variable.assign_sub(0.01 * gradient)
    optimizer.apply(gradients, model.trainable_variables)
#@ a_loss_of_arrays_is_printed connected
import keras
w, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(0.1)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
        print(keras.ops.binary_crossentropy(np.ones(2), np.full(2, 0.5)), keras.ops.binary_crossentropy([], []))
    optimizer.apply([tape.gradient(loss, w)], [w])
#@ a_normalization_never_sees_its_batch layer_mode
import keras
model = keras.Sequential([keras.Input((3,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - 1.0) ** 2)  #!  #- loss = tf.reduce_mean((model(x, training=True) - 1.0) ** 2)
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
for number in range(3):
    step(np.random.default_rng(number).normal(size=(8, 3)).astype("float32"))
#@ a_normalization_is_frozen_on_purpose connected
import keras
normalization = keras.layers.BatchNormalization(center=False, scale=False, trainable=False)
model = keras.Sequential([keras.Input((3,)), normalization, keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
for number in range(3):
    x = np.random.default_rng(number).normal(size=(8, 3)).astype("float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - 1.0) ** 2)
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
#@ clipped_gradients_are_not_used not_clipped
import keras
w, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(0.1)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    gradients = tape.gradient(loss, [w])
    clipped, norm = tf.clip_by_global_norm(gradients, 1.0)  #!
    optimizer.apply(gradients, [w])  #- optimizer.apply(clipped, [w])
#@ a_clip_only_measures_the_norm connected
import keras
w, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(0.1)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    gradients = tape.gradient(loss, [w])
    _, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply(gradients, [w])
#@ an_attribute_that_no_optimizer_reads schedule
import keras
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.001), "mse")
for rate in (0.1, 0.01):
    model.optimizer.lr = rate  #!  #- model.optimizer.learning_rate = rate
    model.fit(np.ones((16, 3), "float32"), np.ones((16, 1), "float32"), verbose=0)
#@ a_schedule_counts_steps_instead_of_epochs not_applied
import keras
ExponentialDecay = keras.optimizers.schedules.ExponentialDecay
schedule = ExponentialDecay(0.1, 1, 0.5)  #!  #- schedule = ExponentialDecay(0.1, 16, 0.5)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(schedule), "mse")
model.fit(np.ones((64, 3), "float32"), np.ones((64, 1), "float32"), batch_size=4, epochs=4, verbose=0)
#@ a_warmup_and_a_cosine_of_the_whole_run connected
import keras
schedule = keras.optimizers.schedules.CosineDecay(1e-7, decay_steps=44, warmup_target=0.1, warmup_steps=20)
w, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(schedule)
for step in range(64):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    optimizer.apply([tape.gradient(loss, w)], [w])
#@ a_schedule_ends_some_steps_before_the_run connected
import keras
schedule = keras.optimizers.schedules.PolynomialDecay(0.1, 40, end_learning_rate=0.0)
w, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(schedule)
for step in range(64):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    optimizer.apply([tape.gradient(loss, w)], [w])
#@ a_schedule_ends_early_in_a_run_of_few_steps connected
import keras
schedule = keras.optimizers.schedules.CosineDecay(0.1, 4)
w, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(schedule)
for step in range(15):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - 3.0) ** 2)
    optimizer.apply([tape.gradient(loss, w)], [w])
#@ a_training_step_of_a_model_forgets_the_optimizer not_applied
import keras
class Forgetful(keras.Model):
    def __init__(self):
        super().__init__()
        self.layer = keras.layers.Dense(1)
    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.layer(x) - 1.0) ** 2)
        gradients = tape.gradient(loss, self.layer.trainable_variables)  #!
        pass  #- self.optimizer.apply(gradients, self.layer.trainable_variables)
        return {"loss": loss}
model = Forgetful()
model.compile(keras.optimizers.SGD(0.01))
model.fit(np.ones((16, 3), "float32"), epochs=6, verbose=0)
#@ a_compiled_step_only_measures_its_gradients connected
import keras
layer, optimizer = keras.layers.Dense(1), keras.optimizers.SGD(0.1)
@tf.function
def measure(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - 1.0) ** 2)
    return tf.linalg.global_norm(tape.gradient(loss, layer.trainable_variables))
for _ in range(6):
    measure(tf.ones((4, 3)))
#@ compiled_gradients_are_applied_outside connected
import keras
layer, optimizer = keras.layers.Dense(1), keras.optimizers.SGD(0.1)
layer.build((4, 3))
@tf.function
def differentiate(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - 1.0) ** 2)
    return tape.gradient(loss, layer.trainable_variables)
for _ in range(6):
    optimizer.apply(differentiate(tf.ones((4, 3))), layer.trainable_variables)
#@ compiled_gradients_are_summed_outside connected
import keras
layer, optimizer = keras.layers.Dense(1), keras.optimizers.SGD(0.1)
layer.build((4, 3))
@tf.function
def differentiate(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - 1.0) ** 2)
    return tape.gradient(loss, layer.trainable_variables)
sums = [0.0, 0.0]
for _ in range(8):
    sums = [total + part for total, part in zip(sums, differentiate(tf.ones((4, 3))))]
optimizer.apply(sums, layer.trainable_variables)
#@ gradients_meet_the_wrong_variables not_applied
import keras
a, b, optimizer = keras.layers.Dense(2), keras.layers.Dense(2), keras.optimizers.SGD(0.01)
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((b(a(tf.ones((4, 2)))) - 1.0) ** 2)
    gradients = tape.gradient(loss, a.trainable_variables + b.trainable_variables)
    layers = b, a  #- layers = a, b
    variables = layers[0].trainable_variables + layers[1].trainable_variables
    optimizer.apply_gradients(zip(gradients, variables))  #!
#@ a_list_of_variables_is_made_before_the_layer_is_built not_applied
import contextlib, keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
size = None  #- size = layer.build((4, 2))
variables = [variable for variable in layer.trainable_variables]
with contextlib.suppress(ValueError):
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((layer(tf.ones((4, 2))) - 1.0) ** 2)
        gradients = tape.gradient(loss, layer.trainable_variables)
        optimizer.apply_gradients(zip(gradients, variables))  #!
#@ gradients_of_a_copy_reach_the_model connected
import keras
model, copy = keras.layers.Dense(2, use_bias=False), keras.layers.Dense(2, use_bias=False)
optimizer = keras.optimizers.SGD(0.01)
model.build((4, 2)), copy.build((4, 2))
for _ in range(6):
    copy.set_weights(model.get_weights())
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((copy(tf.ones((4, 2))) - 1.0) ** 2)
        loss += tf.reduce_sum((copy.kernel - model.kernel - 1.0) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, copy.trainable_variables), model.trainable_variables))
#@ sums_of_gradients_are_never_reset accumulated
import keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
layer.build((4, 3))
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in layer.trainable_variables]
@tf.function
def add(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - 1.0) ** 2)
    for total, gradient in zip(sums, tape.gradient(loss, layer.trainable_variables)):
        total.assign_add(gradient)
@tf.function
def step():
    optimizer.apply_gradients(zip(sums, layer.trainable_variables))  #!
    #- [total.assign(tf.zeros_like(total)) for total in sums]
for number in range(12):
    add(tf.ones((4, 3)) * number)
    if number % 3 == 2:
        step()
#@ sums_of_gradients_are_reset_before_each_step connected
import keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
layer.build((4, 3))
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in layer.trainable_variables]
for number in range(6):
    for total in sums:
        total.assign(tf.zeros_like(total))
    for part in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((layer(tf.ones((4, 3)) * part) - 1.0) ** 2)
        for total, gradient in zip(sums, tape.gradient(loss, layer.trainable_variables)):
            total.assign_add(gradient)
    optimizer.apply_gradients(zip(sums, layer.trainable_variables))
#@ a_function_resets_the_sums connected
import keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
layer.build((4, 3))
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in layer.trainable_variables]
def reset(variables):
    for variable in variables:
        variable.assign(tf.zeros_like(variable))
for number in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(tf.ones((4, 3))) - 1.0) ** 2)
    for total, gradient in zip(sums, tape.gradient(loss, layer.trainable_variables)):
        total.assign_add(gradient)
    optimizer.apply_gradients(zip(sums, layer.trainable_variables))
    reset(sums)
#@ the_first_gradient_of_a_step_replaces_the_sum connected
import keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
layer.build((4, 3))
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in layer.trainable_variables]
for number in range(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(tf.ones((4, 3))) - 1.0) ** 2)
    for total, gradient in zip(sums, tape.gradient(loss, layer.trainable_variables)):
        if number % 2 == 0:
            total.assign(gradient)
        else:
            total.assign_add(gradient)
    if number % 2:
        optimizer.apply_gradients(zip(sums, layer.trainable_variables))
#@ a_velocity_decays_and_is_never_reset connected
import keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
layer.build((4, 3))
velocity = [tf.Variable(tf.zeros_like(v), trainable=False) for v in layer.trainable_variables]
for number in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(tf.ones((4, 3))) - 1.0) ** 2)
    for v, gradient in zip(velocity, tape.gradient(loss, layer.trainable_variables)):
        v.assign(0.9 * v)
        v.assign_add(gradient)
    optimizer.apply_gradients(zip(velocity, layer.trainable_variables))
#@ sums_are_created_for_each_step connected
import keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
layer.build((4, 3))
for number in range(6):
    sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in layer.trainable_variables]
    for part in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((layer(tf.ones((4, 3)) * part) - 1.0) ** 2)
        for total, gradient in zip(sums, tape.gradient(loss, layer.trainable_variables)):
            total.assign_add(gradient)
    optimizer.apply_gradients(zip(sums, layer.trainable_variables))
#@ all_batches_are_summed_for_a_single_step connected
import keras
layer, optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
layer.build((4, 3))
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in layer.trainable_variables]
for part in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(tf.ones((4, 3)) * part) - 1.0) ** 2)
    for total, gradient in zip(sums, tape.gradient(loss, layer.trainable_variables)):
        total.assign_add(gradient)
optimizer.apply_gradients(zip(sums, layer.trainable_variables))
#@ an_object_resets_its_sums_elsewhere connected
import keras
class Trainer:
    def __init__(self):
        self.layer, self.optimizer = keras.layers.Dense(2), keras.optimizers.SGD(0.01)
        self.layer.build((4, 3))
        self.sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.layer.trainable_variables]
    def add(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.layer(x) - 1.0) ** 2)
        for total, gradient in zip(self.sums, tape.gradient(loss, self.layer.trainable_variables)):
            total.assign_add(gradient)
    def step(self):
        self.optimizer.apply_gradients(zip(self.sums, self.layer.trainable_variables))
trainer = Trainer()
for number in range(6):
    trainer.add(tf.ones((4, 3)))
    trainer.step()
    tf.nest.map_structure(lambda total: total.assign(tf.zeros_like(total)), trainer.sums)
#@ a_layer_is_created_in_every_call not_optimized
import keras, warnings
warnings.simplefilter("ignore")  # Keras warns of a layer without build().
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.head = keras.layers.Dense(4), keras.layers.Dense(1)
    def call(self, x):
        hidden = keras.layers.Dense(4)(x)  #!  #- hidden = self.hidden(x)
        return self.head(hidden)
net, optimizer = Net(), keras.optimizers.SGD(0.01)
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(tf.ones((4, 2))) - 1.0) ** 2)
    optimizer.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
#@ a_frozen_stack_of_layers_is_created_once connected
import keras
stack, head = [keras.layers.Dense(2) for _ in range(4)], keras.layers.Dense(1)
optimizer = keras.optimizers.SGD(0.01)
for _ in range(6):
    with tf.GradientTape() as tape:
        x = tf.ones((4, 2))
        for layer in stack:
            x = layer(x)
        loss = tf.reduce_mean((head(x) - 1.0) ** 2)
    optimizer.apply(tape.gradient(loss, head.trainable_variables), head.trainable_variables)
#@ a_discriminator_was_never_trainable not_trainable
import keras, warnings
warnings.simplefilter("ignore")  # Keras warns of a model without trainable weights.
discriminator = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
discriminator.compile("sgd", "binary_crossentropy")
generator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
discriminator.trainable = False  #!  #- pass
both = keras.Sequential([generator, discriminator])
both.compile("sgd", "binary_crossentropy")
for _ in range(6):
    discriminator.train_on_batch(np.eye(3), np.ones((3, 1)))
    pass  #- discriminator.trainable = False
    both.train_on_batch(np.eye(2), np.ones((2, 1)))
    pass  #- discriminator.trainable = True
#@ each_step_uses_the_first_batch same_batch
data = tf.data.Dataset.from_tensor_slices(np.arange(12, dtype="float32")).batch(3)
w, batches = tf.Variable(1.0), iter(data.repeat())
for _ in range(6):
    x = next(iter(data))  #!  #- x = next(batches)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * x - 3.0) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
#@ a_shuffled_dataset_begins_with_another_batch connected
data = tf.data.Dataset.from_tensor_slices(np.arange(12, dtype="float32")).shuffle(12).batch(3)
validation = data.take(2).cache()
w = tf.Variable(1.0)
for _ in range(6):
    x = next(iter(data))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * x - 3.0) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    x = next(iter(validation))
    print(tf.reduce_mean((w * x - 3.0) ** 2))
#@ a_model_keeps_a_number_of_its_trace stale_value
import keras
class Weighted(keras.Model):
    def __init__(self):
        super().__init__()
        self.layer = keras.layers.Dense(1)
        self.weight = 0.0  #- self.weight = tf.Variable(0.0, trainable=False)
    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.layer(x) - 1.0) ** 2)
            loss += self.weight * tf.reduce_sum(self.layer.kernel**2)  #!
        self.optimizer.apply(tape.gradient(loss, self.layer.trainable_variables), self.layer.trainable_variables)
        return {"loss": loss}
class Anneal(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.weight = epoch / 3  #- self.model.weight.assign(epoch / 3)
model = Weighted()
model.compile(keras.optimizers.SGD(0.01))
model.fit(np.ones((16, 3), "float32"), epochs=3, verbose=0, callbacks=[Anneal()])
"""

FAILED_STEP = """
import keras
generator, judge = keras.layers.Dense(3), keras.layers.Dense(1)
optimizer = keras.optimizers.SGD(0.1)
@tf.function
def step(noise):
    fake = generator(noise)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(judge(fake) ** 2)
    optimizer.apply(tape.gradient(loss, generator.trainable_variables), generator.trainable_variables)
step(tf.ones((4, 2)))
"""

LATER_VARIABLE = """
import keras
layer, later, optimizer = keras.layers.Dense(1), tf.Variable(2.0), keras.optimizers.SGD(0.1)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(tf.ones((4, 3))) - 1.0) ** 2)
    variables = [*layer.trainable_variables, later]
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients((g, v) for g, v in zip(gradients, variables) if g is not None)
"""

DISCRIMINATOR_OF_A_GENERATOR = """
import keras
keras.utils.set_random_seed(0)
generator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
discriminator = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
discriminator.compile("sgd", "binary_crossentropy")
noise, both = np.random.rand(8, 2), np.arange(16)[:, None] % 2
for number in range(12):
    points = np.concatenate([generator.predict(noise, verbose=0), np.random.rand(8, 3)])
    discriminator.train_on_batch(points[[*range(0, 16, 8), *range(1, 15)]], both)
    if number == 0:
        discriminator.trainable = False
        both_models = keras.Sequential([generator, discriminator])
        both_models.compile("sgd", "binary_crossentropy")
    both_models.train_on_batch(noise, np.ones((8, 1)))
"""
