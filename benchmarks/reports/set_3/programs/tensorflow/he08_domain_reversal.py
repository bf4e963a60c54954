import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
direction = tf.random.normal((8, 1))


@tf.custom_gradient
def reverse(x):
    def grad(upstream):
        return -0.3 * upstream
    return tf.identity(x), grad


def make_batch(n):
    x = tf.random.normal((2 * n, 8))
    domain = tf.concat([tf.zeros((n, 1)), tf.ones((n, 1))], axis=0)
    x = x + domain * tf.one_hot(tf.fill((2 * n,), 7), 8) * 2.0
    label = tf.cast(x[:, :7] @ direction[:7] > 0, tf.float32)
    return x, label, domain


features = keras.Sequential([keras.layers.Dense(32, "relu"), keras.layers.Dense(16, "relu")])
label_head = keras.layers.Dense(1)
domain_head = keras.Sequential([keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(3e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
for part, width in ((features, 8), (label_head, 16), (domain_head, 16)):
    part.build((None, width))
variables = (features.trainable_variables + label_head.trainable_variables
             + domain_head.trainable_variables)


@tf.function
def train_step(x, label, domain):
    n = tf.shape(x)[0] // 2
    with tf.GradientTape() as tape:
        h = features(x)
        label_loss = bce(label[:n], label_head(h[:n]))
        domain_loss = bce(domain, domain_head(reverse(h)))
        loss = label_loss + domain_loss
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    hits = tf.reduce_mean(tf.cast((label_head(h[n:]) > 0) == (label[n:] > 0.5), tf.float32))
    return label_loss, domain_loss, hits


for step in range(401):
    label_loss, domain_loss, hits = train_step(*make_batch(64))
    if step % 80 == 0:
        print(f"step {step} label {label_loss:.4f} domain {domain_loss:.4f} target accuracy {hits:.3f}")
