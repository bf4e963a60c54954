import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
LATENT, BATCH = 4, 64


def real_batch():
    angle = rng.uniform(0, 6.28, (BATCH, 1))
    return np.hstack([np.cos(angle), np.sin(angle)]) * 2 + rng.normal(0, 0.05, (BATCH, 2))


generator = keras.Sequential([layers.Input((LATENT,)), layers.Dense(32, "relu"), layers.Dense(2)])
discriminator = keras.Sequential([layers.Input((2,)), layers.Dense(32, "relu"),
                                  layers.Dense(32, "relu"), layers.Dense(1, "sigmoid")])
discriminator.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(5e-3, beta_1=0.5))

discriminator.trainable = False
latent = layers.Input((LATENT,))
combined = keras.Model(latent, discriminator(generator(latent)))
combined.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5))

valid, fake = np.ones((BATCH, 1)), np.zeros((BATCH, 1))
for step in range(361):
    noise = rng.normal(size=(BATCH, LATENT))
    made = generator(noise).numpy()
    discriminator.trainable = True
    d_real = discriminator.train_on_batch(real_batch(), valid)
    d_fake = discriminator.train_on_batch(made, fake)

    noise = rng.normal(size=(BATCH, LATENT))
    discriminator.trainable = False
    g_loss = combined.train_on_batch(noise, valid)
    if step % 60 == 0:
        p_real = float(discriminator(real_batch()).numpy().mean())
        p_fake = float(discriminator(made).numpy().mean())
        radius = float(np.linalg.norm(made, axis=1).mean())
        print(f"step {step} D(real) {p_real:.3f} D(fake) {p_fake:.3f} g {float(g_loss):.3f} radius {radius:.3f}")
