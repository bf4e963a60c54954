import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(49)
rng = np.random.default_rng(49)
NODES, EDGES = 60, 240
source = rng.integers(0, NODES, size=EDGES)
target = rng.integers(0, NODES, size=EDGES)
node_x = rng.normal(size=(NODES, 4)).astype("float32")
edge_x = rng.normal(size=(EDGES, 3)).astype("float32")
flow = np.zeros((NODES, 1), "float32")
np.add.at(flow, target, node_x[source, :1] * edge_x[:, :1] + edge_x[:, 1:2])


class MessageLayer(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.message = keras.Sequential([
            keras.layers.Dense(48, activation="relu"), keras.layers.Dense(units)])
        self.update = keras.layers.Dense(units)
        self.units = units

    def call(self, nodes, edges, src, dst):
        messages = self.message(tf.concat([tf.gather(nodes, src), edges], axis=-1))
        inbox = tf.zeros((NODES, self.units))
        inbox = tf.tensor_scatter_nd_add(inbox, dst[:, None], messages)
        return self.update(tf.concat([nodes, inbox], axis=-1))


layer = MessageLayer(1)
optimizer = keras.optimizers.Adam(0.01)
inputs = [tf.constant(node_x), tf.constant(edge_x), tf.constant(source), tf.constant(target)]
layer(*inputs)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(layer(*inputs) - flow))
    grads = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(grads, layer.trainable_variables))
    return loss


for step in range(400):
    loss = train_step()
    if step % 80 == 0 or step == 399:
        print(step, "loss", float(loss))
print("variance of flow", float(flow.var()))
