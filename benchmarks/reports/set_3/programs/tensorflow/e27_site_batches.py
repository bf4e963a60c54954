import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
SITES, PER_SITE = 4, 48
offsets = tf.constant([-2.0, 1.0, 3.0, -0.5])
weights = tf.random.normal((5, 1))
inputs = [tf.random.normal((PER_SITE, 5)) for _ in range(SITES)]
targets = [x @ weights + offsets[i] for i, x in enumerate(inputs)]


class SiteModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.site = keras.layers.Embedding(SITES, 1)
        self.body = keras.layers.Dense(1, use_bias=False)

    def call(self, x, site):
        ids = tf.fill((tf.shape(x)[0],), site)
        return self.body(x) + self.site(ids)


model = SiteModel()
optimizer = keras.optimizers.Adam(0.05)
mse = keras.losses.MeanSquaredError()

for step in range(151):
    total_loss = 0.0
    for site in range(SITES):
        with tf.GradientTape() as tape:
            total_loss += mse(targets[site], model(inputs[site], site=site)) / SITES
    grads = tape.gradient(total_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 30 == 0:
        learned = tf.squeeze(model.site.embeddings).numpy().round(2)
        print(f"step {step} loss {total_loss:.4f} sites {learned}")
