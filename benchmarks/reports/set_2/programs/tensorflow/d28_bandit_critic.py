import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(51)
rng = np.random.default_rng(51)
ACTIONS = 4
reward_table = rng.normal(size=(6, ACTIONS)).astype("float32")

trunk = keras.layers.Dense(32, activation="tanh")
policy_head = keras.layers.Dense(ACTIONS)
value_head = keras.layers.Dense(1)
obs_in = keras.Input((6,))
hidden = trunk(obs_in)
agent = keras.Model(obs_in, [policy_head(hidden), value_head(hidden)])
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def train_step(obs, actions, rewards):
    with tf.GradientTape() as tape:
        logits, values = agent(obs, training=True)
        advantage = rewards - values[:, 0]
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
        policy_loss = -tf.reduce_mean(log_prob * advantage)
        value_loss = 0.5 * tf.reduce_mean(tf.square(advantage))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=-1))
        loss = policy_loss + 0.2 * value_loss - 0.3 * entropy
    grads = tape.gradient(loss, agent.trainable_variables)
    optimizer.apply_gradients(zip(grads, agent.trainable_variables))
    return policy_loss, value_loss


for step in range(500):
    states = rng.integers(0, 6, size=64)
    obs = np.eye(6, dtype="float32")[states]
    logits, _ = agent(obs)
    actions = tf.random.categorical(logits, 1)[:, 0]
    rewards = reward_table[states, actions.numpy()] + 0.1 * rng.normal(size=64).astype("float32")
    p_loss, v_loss = train_step(tf.constant(obs), actions, tf.constant(rewards))
    if step % 100 == 0 or step == 499:
        print(step, "policy", float(p_loss), "value", float(v_loss), "reward", float(rewards.mean()))
_, values = agent(np.eye(6, dtype="float32"))
print("values", np.round(values.numpy()[:, 0], 2))
print("best rewards", np.round(reward_table.max(axis=1), 2))
