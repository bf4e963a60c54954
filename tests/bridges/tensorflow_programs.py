"""Typical TensorFlow programs. Recording must not change the returned values by a single bit."""

import keras
import tensorflow as tf

PROGRAMS = {}


def register_program(function):
    PROGRAMS[function.__name__] = function
    return function


def train_model(model, optimizer, inputs, labels, loss_of, steps=2):
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(inputs, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        losses.append(loss)
    return [*losses, *gradients, *model.trainable_variables]


@register_program
def mlp_with_adam():
    net = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return train_model(net, keras.optimizers.Adam(), tf.random.normal([16, 20]), tf.range(16) % 10, loss)


@register_program
def mlp_with_large_weights():
    net = keras.Sequential([keras.layers.Dense(256, activation="tanh"), keras.layers.Dense(10)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return train_model(net, keras.optimizers.SGD(0.1), tf.random.normal([64, 784]), tf.range(64) % 10, loss)


@register_program
def cnn_with_batch_norm():
    layers = keras.layers
    net = keras.Sequential(
        [
            layers.Conv2D(4, 3),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPool2D(),
            layers.Flatten(),
            layers.Dense(3),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    parts = train_model(
        net, keras.optimizers.SGD(0.1, momentum=0.9), tf.random.normal([8, 8, 8, 1]), tf.range(8) % 3, loss
    )
    return [*parts, *net.non_trainable_variables]


@register_program
def lstm_layer():
    net = keras.layers.LSTM(4)
    x = tf.random.normal([2, 5, 3])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(x) ** 2)
    return [loss, *tape.gradient(loss, net.trainable_variables)]


@register_program
def embedding_of_words():
    table = tf.Variable(tf.random.normal([50, 8]))
    words = tf.constant([[1, 2, 3], [3, 4, 1]])
    with tf.GradientTape() as tape:
        rows = tf.gather(table, words)
        loss = tf.reduce_sum(tf.reduce_mean(rows, axis=1) ** 2)
    return [loss, tf.convert_to_tensor(tape.gradient(loss, table))]


@register_program
def gan_step():
    maker = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    judge = keras.Sequential([keras.layers.Dense(8, activation="leaky_relu"), keras.layers.Dense(1)])
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    noise, real = tf.random.normal([16, 2]), tf.random.normal([16, 2])
    one, two = keras.optimizers.Adam(), keras.optimizers.Adam()
    with tf.GradientTape() as for_maker, tf.GradientTape() as for_judge:
        fake = maker(noise)
        says_real, says_fake = judge(real), judge(fake)
        maker_loss = loss(tf.ones([16, 1]), says_fake)
        judge_loss = loss(tf.ones([16, 1]), says_real) + loss(tf.zeros([16, 1]), says_fake)
    a = for_maker.gradient(maker_loss, maker.trainable_variables)
    b = for_judge.gradient(judge_loss, judge.trainable_variables)
    one.apply_gradients(zip(a, maker.trainable_variables, strict=True))
    two.apply_gradients(zip(b, judge.trainable_variables, strict=True))
    return [maker_loss, judge_loss, *a, *b, *maker.trainable_variables]


@register_program
def custom_gradient():
    @tf.custom_gradient
    def clipped(x):
        return tf.exp(x), lambda g: tf.clip_by_value(g, -1.0, 1.0)

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(clipped(x * 2) * 3)
    return [y, tape.gradient(y, x)]


@register_program
def tf_function():
    w = tf.Variable(tf.random.normal([3, 3]))

    @tf.function
    def step(x):
        return tf.reduce_sum(tf.sin(x @ w) * x)

    x = tf.random.normal([2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = step(x * 2) + step(x)
    return [loss, *tape.gradient(loss, [w, x])]


@register_program
def tf_function_that_trains():
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    with tf.GradientTape() as tape:
        y = train(tf.constant([1.0, 1.0])) + tf.reduce_sum(w * w)
    return [y, w, tape.gradient(y, w)]


@register_program
def mixed_dtypes():
    a, b = tf.Variable(tf.constant([1.0, 2.0], tf.float64)), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(a * tf.cast(b, tf.float64)) + tf.cast(tf.reduce_sum(tf.cast(b, tf.bfloat16) ** 2), tf.float64)
    return [y, *tape.gradient(y, [a, b])]


@register_program
def many_outputs():
    x = tf.constant(tf.random.normal([6, 3]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = tf.split(x, [2, 4])
        top, places = tf.math.top_k(a, 2)
        rows = tf.unstack(tf.sort(b, axis=1))
        y = tf.reduce_sum(top) * tf.reduce_mean(rows[0]) + tf.math.reduce_std(b)
    return [y, places, tape.gradient(y, x)]


@register_program
def convolution_and_pooling():
    k = tf.Variable(tf.random.normal([3, 3, 1, 2]))
    x = tf.random.normal([2, 8, 8, 1])
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME"))
        y = tf.reduce_mean(tf.nn.avg_pool2d(h, 2, 2, "VALID"))
    return [y, tape.gradient(y, k)]


@register_program
def stop_recording_and_reset():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = y * 2
        y = y + z
    return [y, tape.gradient(y, x)]
