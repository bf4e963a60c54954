"""Answers by a reader of lessons 02, 04, 05, 11, 12 and 13: no right one is refused, no wrong one is accepted, and
each is compared.

A line is an exercise, and after `=` a value, after `:` the body of a function, after `~` what stands in the place of a
piece of the solution.
"""

import ast

import pytest
from test_exercise_programs import SOLUTIONS, check_program

from minitape.course.checker import count_try_and_build_feedback

RIGHT = r"""
14.7 = {'cause': 'activation_twice', 'line': 11}
02.1 = {1: [0, 0], 2: [0, 1], 3: [1, 2]}
02.1 = [[0, 0], [1, 0], [2, 1]]
02.1 = {1: (0, 0), 2: (1, 0), 3: (2, 1)}
02.2 = {'x': 44, 'u': 10, 'v': 4, 'y': 1}
02.2 = [44, 10, 4, 1]
02.4 = [True, True, False, False]
04.1 = ['a:0', 'd:0']
04.1 = ['a', 'd']
04.1 = ('a:0', 'd:0')
04.2 = {'A': [12, None, None], 'B': [12, 2, 8], 'C': [None, 2, None]}
04.2 = [[12, None, None], [12, 2, 8], [None, 2, None]]
05.2 = ['error', 12, 16, 'error']
05.1 = [1, 1, 2, 3]
02.3 : return [arrived, -arrived]
02.3 : return arrived * 1.0, arrived * -1.0
13.1 = 65
13.1 = 65.0
12.5 : return (g * (1.0 - z ** 2),)
12.5 : return [g * (1.0 - z * z)]
12.7 : return (g, g.sum(axis=0))
12.7 : return g, np.sum(g, 0)
12.7 : return (g, np.ones(len(g)) @ g)
12.7 : return [g, g.sum(axis=0)]
12.7 : return (g, sum(g))
12.8 : return (g @ w.T, x.T @ g)
12.8 : return (np.matmul(g, w.T), np.matmul(x.T, g))
12.8 : return (g @ w.T, (g.T @ x).T)
12.8 : return ((w @ g.T).T, x.T @ g)
13.9 : m, s = np.median(seen, 0), np.std(seen, 0); return learn((seen - m) / s, labels)((birds - m) / s) > 0
12.4 ~ (g / y, -g * z / y) ~> (g / y, -g * x / (y * y))
12.4 ~ return 0.0 - self ~> return self * -1.0
11.4 : return upstream * tf.sigmoid(x)
11.4 : return upstream / (1.0 + tf.exp(-x))
"""
WRONG = r"""
12.5 : return (g * (1 - math.tanh(x) ** 2),)
12.2 ~ (g * y, g * x) ~> (g * x, g * y)
12.2 ~ (g, g) ~> (1.0, 1.0)
12.3 ~ share if adjoints[i] is None else adjoints[i] + share ~> (adjoints[i] or 0.0) + share
02.1 = {1: [0], 2: [1, 0], 3: [2, 1]}
02.1 = {1: [0, 0], 2: [1, 1], 3: [2, 1]}
02.1 = {1: [0, 0], 2: [1, 0], 3: [2, 0]}
02.1 = [0, 0, 1, 0, 2, 1]
02.2 = [1, 4, 10, 44]
02.2 = {'x': 44, 'u': 10, 'v': 4, 'y': 24}
02.2 = {'x': 24, 'u': 10, 'v': 4, 'y': 1}
02.2 = {'x': 44.0, 'u': 10.0}
02.2 = '44, 10, 4, 1'
02.4 = {'A': True, 'B': False, 'C': False, 'D': False}
02.4 = {'A': True, 'B': True, 'C': True, 'D': False}
02.4 = ['A', 'B']
02.4 = 'AB'
02.4 = {'A': 'True', 'B': 'True', 'C': 'False', 'D': 'False'}
04.1 = ['d:0', 'a:0']
04.1 = ['a:0', 'b:0']
04.1 = ['a:0']
04.1 = ['a:0', 'b:0', 'd:0']
04.1 = ['a:0', 'c:0', 'd:0']
04.1 = ['a:0', 'b:0', 'c:0', 'd:0']
04.1 = ['d:0']
04.1 = []
04.1 = 'a:0, d:0'
04.1 = {'d:0', 'a:0'}
04.2 = {'A': [12, 0, 0], 'B': [12, 2, 8], 'C': [0, 2, 0]}
04.2 = {'A': [12, 2, None], 'B': [12, 2, 8], 'C': [None, 2, None]}
04.2 = {'A': 12, 'B': [12, 8], 'C': 2}
05.2 = [12, 12, 16, 4]
05.2 = ['error', 12, 16, None]
05.1 = [1, 2, 2, 3]
05.1 = [2, 2, 3, 3]
02.3 : return arrived, arrived
02.3 : return -arrived, arrived
02.3 : return 1, -1
02.3 : return arrived - arrived
02.3 : return arrived
02.3 : return x - y
02.3 : return arrived * x, -arrived * y
02.3 : return arrived * y, arrived * x
02.3 : return arrived, -y
02.3 : return (arrived, 0)
02.3 : return x * arrived - y * arrived
02.3 : return arrived, -1
02.3 : return arrived, arrived - 1
02.3 : print(arrived, -arrived)
02.3 : return arrived, --arrived
02.3 : return arrived + x, arrived - y
13.1 = '65'
13.1 = 64
13.1 = 66
13.1 = [32, 16, 16, 1]
13.1 = {'w1': 32, 'b1': 16, 'w2': 16, 'b2': 1}
12.5 : return g * (1.0 - z * z)
12.5 : return (1.0 - z * z,)
12.5 : return (g * 1.0 - z * z,)
12.5 : return (g * (1.0 - x * x),)
12.5 : return (g * (1.0 - math.tanh(z) ** 2),)
12.5 : return (g * z,)
12.5 : return (g * (z * z - 1.0),)
12.5 : return (g * (1.0 - z),)
12.5 : return (g * (1.0 + z * z),)
12.5 : return (g - g * z,)
12.5 : return (g / (1.0 - z * z),)
12.5 : return (g * (1.0 - z * z), 0.0)
12.5 : return (math.tanh(x),)
12.5 : return (g * (1.0 - z ^ 2),)
12.5 : return (g * (1.0 - z * z) * x,)
12.5 : return (g * (1.0 - tanh(x) ** 2),)
12.7 : return (g, g)
12.7 : return (g, g.mean(axis=0))
12.7 : return (g, g.sum(axis=1))
12.7 : return (g, g.sum())
12.7 : return (g, g[0])
12.7 : return (g, g[-1])
12.7 : return (g.sum(axis=0), g)
12.7 : return g
12.7 : return (g * b, g.sum(axis=0) * x)
12.7 : return (g, 200 * g.sum(axis=0))
12.7 : return (1, 1)
12.7 : return (g, b)
12.7 : return (g, g.sum(axis=0, keepdims=True))
12.7 : return (x, x.sum(axis=0))
12.8 : return (g @ w, x @ g)
12.8 : return (g * w, g * x)
12.8 : return (x.T @ g, g @ w.T)
12.8 : return (w.T @ g, g @ x.T)
12.8 : return (g @ w.T, g.T @ x)
12.8 : return (g @ w.T,)
12.8 : return (w.T, x.T)
12.8 : return (g @ w.T, x.T @ g / len(x))
12.8 : return (w @ g.T, g.T @ x)
12.8 : return g @ w.T + x.T @ g
12.8 : return (g, x.T @ g)
12.8 : return (z @ w.T, x.T @ z)
13.9 : return (measures - seen.mean()) / seen.std()
13.9 : return (measures - measures.mean(axis=0)) / measures.std(axis=0)
13.9 : return (seen - seen.mean(axis=0)) / seen.std(axis=0)
13.9 : return measures - seen.mean(axis=0) / seen.std(axis=0)
13.9 : return (measures - seen.mean(axis=0)) / seen.var(axis=0)
13.9 : return (measures - seen.mean(axis=0)) * seen.std(axis=0)
13.9 : return (measures - seen.mean(axis=1)) / seen.std(axis=1)
13.9 : return (measures + seen.mean(axis=0)) / seen.std(axis=0)
13.9 : return (measures - seen.std(axis=0)) / seen.mean(axis=0)
13.9 : return (measures - seen.min(axis=0)) / (seen.max(axis=0) - seen.min(axis=0))
13.9 : return measures / seen.max(axis=0)
13.9 : return (measures - np.median(seen, axis=0)) / seen.std(axis=0)
13.9 : return measures / seen.std(axis=0)
13.9 : return measures - seen.mean(axis=0)
13.9 : return measures.mean(axis=0), measures.std(axis=0)
13.9 : return (seen.mean(axis=0) - measures) / seen.std(axis=0)
13.9 : return measures / np.linalg.norm(measures, axis=0)
13.9 : return (measures - [44.0, 4200.0]) / [5.0, 800.0]
12.1 ~ return Number(self, len(self.rows) - 1) ~> return Number(self, len(self.rows))
12.1 ~         return Number(self, len(self.rows) - 1)\n ~>
12.1 ~ (name, inputs, value)) ~> (name, value, inputs))
12.1 ~ "watched", [] ~> "watch", []
12.1 ~ "watched", [], value ~> "watched", value, []
12.1 ~ "watched", [] ~> "watched", None
12.1 ~ value = property(lambda self: self.tape.rows[self.row][2]) ~>
12.1 ~ self.rows = []  # (name, inputs, value) ~> rows = []
12.1 ~     def __init__(self):\n        self.rows = []  # (name, inputs, value) ~>     rows = []
12.1 ~ self.tape, self.row = tape, row ~> self.tape, self.row = row, tape
12.1 ~         return self.append( ~>         self.append(
12.1 ~ rows[self.row][2] ~> rows[self.row]
12.2 ~ lambda x, y: x * y, lambda ~> lambda x, y: x + y, lambda
12.2 ~     __radd__, __rmul__ = __add__, __mul__  # 2.0 * a calls a.__rmul__(2.0)\n ~>
12.2 ~ "multiply", self, other ~> "add", self, other
12.2 ~ self.append("constant", [], n) ~> n
12.2 ~ self.append("constant", [], n) ~> self.append("watched", [], n)
12.2 ~ [n.row for n in numbers], forward ~> numbers, forward
12.2 ~ forward(*[n.value for n in numbers]) ~> forward([n.value for n in numbers])
12.2 ~ forward(*[n.value for n in numbers]) ~> forward(*things)
12.2 ~         return self.append(name, [n ~>         self.append(name, [n
12.2 ~ return self.append(name, ~> return self.append('row',
12.3 ~ adjoints[target.row] = 1.0 ~> adjoints[-1] = 1.0
12.3 ~ adjoints[target.row] = 1.0 ~> adjoints[target.row] = target.value
12.3 ~ range(target.row, -1, -1) ~> range(target.row)
12.3 ~ range(target.row, -1, -1) ~> reversed(range(target.row))
12.3 ~                 continue\n ~>                 break\n
12.3 ~ share if adjoints[i] is None else adjoints[i] + share ~> share
12.3 ~ adjoints[s.row] if self.rows[s.row][0] == "watched" else None for s ~> adjoints[s.row] for s
12.3 ~ return [adjoints[s.row] ~> return [adjoints[s.row - 1]
12.3 ~ (g * y, g * x) ~> (g * x, g * y)
12.3 ~ (g * y, g * x) ~> (y, x)
12.3 ~ (g, g) ~> (1.0, 1.0)
12.3 ~ rule(adjoints[row], value, ~> rule(1.0, value,
12.3 ~ rule(adjoints[row], value, *[ ~> rule(adjoints[row], *[
12.3 ~ *[self.rows[i][2] for i in inputs] ~> *inputs
12.3 ~ for s in sources] ~> for s in sources][0]
12.3 ~ (g * y, g * x) ~> (g * y)
12.3 ~ (g * y, g * x) ~> (g + y, g + x)
12.4 ~ lambda g, z, x, y: (g, -g) ~> lambda g, z, x, y: (g, g)
12.4 ~ (g / y, -g * z / y) ~> (g / y, g * z / y)
12.4 ~ (g / y, -g * z / y) ~> (g / y, -g * x / y)
12.4 ~ (g / y, -g * z / y) ~> (g / y, g / x)
12.4 ~ (g / y, -g * z / y) ~> (g * y, -g * x)
12.4 ~ "subtract", other, self ~> "subtract", self, other
12.4 ~ "divide", other, self ~> "divide", self, other
12.4 ~ return 0.0 - self ~> return -self.value
12.4 ~ return 0.0 - self ~> return self - 0.0
12.4 ~     def __neg__(self):\n        return 0.0 - self\n ~>
12.4 ~ __truediv__ ~> __div__
12.4 ~ lambda x, y: x - y ~> lambda x, y: y - x
12.4 ~ return 0.0 - self ~> return 0.0 + self
11.4 : return upstream
11.4 : return tf.sigmoid(x)
11.4 : return upstream * tf.exp(x) / (1.0 + tf.exp(x))
11.4 : return upstream * 1.0 / (1.0 + tf.exp(x))
11.4 : return upstream + tf.sigmoid(x)
11.4 : return upstream * (tf.exp(x) / 1.0 + tf.exp(x))
11.4 : return tf.where(x > 5.0, upstream, upstream * tf.exp(x) / (1.0 + tf.exp(x)))
11.4 : return 1.0 if x > 100.0 else upstream * tf.exp(x) / (1.0 + tf.exp(x))
11.6 ~ < 1.0 ~> < 1.2
11.6 ~ < 1.0 ~> < 0.6
09.2 ~ tape.gradient(total, w) ~> 2.0 * tape.gradient(total, w)
14.7 = {'cause': 'saturated', 'line': 11}
06.4 ~ tf.round(x) ~> tf.floor(x + 0.5)
11.4 : return upstream * math.exp(x) / (1.0 + math.exp(x))
"""


def parse_and_check_answer(line: str) -> tuple[str, str]:
    """An exercise, and what is said of an answer to it."""
    name, kind, text = line.split(" ", 2)
    if kind == "=":
        return name, count_try_and_build_feedback(name, ast.literal_eval(text))
    solution = SOLUTIONS[name]
    if kind == "~":
        old, _, new = text.encode().decode("unicode_escape").partition(" ~>")
        assert old in solution
        return name, check_program(name, solution.replace(old, new[1:]))
    head = next(line for line in solution.splitlines() if line.startswith("def "))
    return name, check_program(name, f"{head}\n    {text}\n")


@pytest.mark.parametrize("line", RIGHT.strip().splitlines())
def test_a_right_answer_is_right(line):
    name, said = parse_and_check_answer(line)
    assert said.startswith(f"Exercise {name}: correct."), said


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_a_wrong_answer_is_not_accepted_and_is_compared(line):
    name, said = parse_and_check_answer(line)
    assert said.startswith(f"Exercise {name}: not yet."), said
    assert ("could not be compared" not in said and "Hint: " in said) or "quotes around" in said, said
