import random
from collections import deque

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
SIZE, GAMMA, BATCH, SYNC_EVERY = 8, 0.9, 32, 25


def build_q():
    return keras.Sequential(
        [keras.Input(shape=(SIZE,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)]
    )


class Agent:
    def __init__(self):
        self.q, self.target = build_q(), build_q()
        self.target.set_weights(self.q.get_weights())
        self.optimizer = keras.optimizers.Adam(3e-3)
        self.updates = 0

    @tf.function
    def train(self, s, a, r, s2, done):
        next_q = tf.reduce_max(self.target(s2), axis=1)
        y = r + GAMMA * next_q * (1.0 - done)
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.q(s) * tf.one_hot(a, 2), axis=1)
            loss = tf.reduce_mean(tf.square(y - q))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.q.trainable_variables))
        self.updates += 1
        if self.updates % SYNC_EVERY == 0:
            for t, v in zip(self.target.variables, self.q.variables):
                t.assign(v)
        return loss


agent, memory = Agent(), deque(maxlen=1000)
eye = np.eye(SIZE, dtype="float32")
for episode in range(25):
    pos = 0
    for _ in range(25):
        if random.random() < max(0.1, 1 - episode / 15):
            action = random.randrange(2)
        else:
            action = int(np.argmax(agent.q(eye[pos : pos + 1])))
        nxt = max(0, pos + (1 if action else -1))
        done = nxt == SIZE - 1
        memory.append((eye[pos], action, np.float32(done), eye[nxt], np.float32(done)))
        pos = nxt
        if len(memory) >= BATCH:
            s, a, r, s2, d = (tf.stack(c) for c in zip(*random.sample(memory, BATCH)))
            loss = agent.train(s, tf.cast(a, tf.int32), r, s2, d)
        if done:
            break
print("q", np.round(agent.q(eye).numpy(), 2).tolist())
print("target", np.round(agent.target(eye).numpy(), 2).tolist())
