"""Arguments of optimizers and losses that must not be ignored."""

import pytest

import minitape as tf

K = tf.keras


def test_optimizers_of_ones_own_look_their_variables_up():
    class Counting(K.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.counts = [self.add_variable_from_reference(v, "count") for v in variables]
            self.sums = [self.add_variable_from_reference(v, "sum", "ones") for v in variables]
            self.all = self.add_variable((), name="all")

        def update_step(self, gradient, variable, learning_rate):
            place = self._get_variable_index(variable)
            self.counts[place].assign_add(1.0)
            self.sums[place].assign_sub(gradient)
            self.all.assign(self.all + 1.0)
            variable.assign_sub(learning_rate * gradient)

    a, b = tf.Variable(1.0), tf.Variable(2.0)
    optimizer = Counting(learning_rate=0.5)
    optimizer.apply_gradients([(tf.constant(1.0), a), (tf.constant(2.0), b)])
    optimizer.apply_gradients([(tf.constant(4.0), b)])
    assert (float(a), float(b), float(optimizer.all)) == (0.5, -1.0, 3.0)
    assert [[float(v) for v in slot] for slot in (optimizer.counts, optimizer.sums)] == [[1.0, 2.0], [0.0, -5.0]]


@pytest.mark.parametrize(
    "argument", [{"use_ema": True}, {"gradient_accumulation_steps": 2}, {"loss_scale_factor": 2.0}]
)
def test_optimizers_refuse_what_they_do_not_have(argument):
    with pytest.raises(ValueError, match=r"Argument\(s\) not recognized: "):
        K.optimizers.SGD(0.1, **argument)
    with pytest.raises(ValueError, match="no schedules"):
        K.optimizers.SGD(lambda: 0.1)
