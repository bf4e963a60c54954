"""The four steps of lesson 12, in which a learner writes a tape: small programs that try it out."""

from __future__ import annotations

from functools import partial

from .trials import AnswerTrial

NONE_SUM_HINT = "None and a number cannot be added: the first amount at a row takes the place of None."
FIRST_ROW_HINT = "The first row is row 0: one less than len(self.rows) after the append."
build_ab_trial = partial(AnswerTrial, setup="tape = Tape()\na, b = tape.watch(2.0), tape.watch(3.0)\n")

ROW_TRIALS = (
    AnswerTrial(
        "Tape().rows",
        [],
        (
            "What does a tape have before anything was recorded?",
            "An empty list called rows, made in __init__.",
            "def __init__(self): self.rows = []",
        ),
    ),
    AnswerTrial(
        "tape = Tape()\ntape.watch(2.0)\ntape.rows",
        [("watched", [], 2.0)],
        (
            "What are the three parts of this row?",
            "A tuple: the name 'watched', an empty list of inputs, the value.",
            "self.rows.append(('watched', [], value))",
        ),
        slips=[
            ("has no attribute 'watch'", "watch is still to be written: it appends a row, and gives back a Number."),
            ([], "watch wrote no row: it appends one to self.rows."),
            ([("watched", 2.0)], "The inputs are missing: an empty list."),
            ("IndexError", FIRST_ROW_HINT),
        ],
    ),
    AnswerTrial(
        "one, two = Tape(), Tape()\none.watch(2.0)\ntwo.rows",
        [],
        (
            "Where was the list made, and how many times?",
            "The two tapes share one list. Make it in __init__, as self.rows.",
            "def __init__(self): self.rows = [], and no line rows = [] in the class itself",
        ),
    ),
    AnswerTrial(
        "tape = Tape()\na = tape.watch(2.0)\na.row, a.value",
        (0, 2.0),
        (
            "What does watch return, in which row is its value, and is value read with brackets?",
            "watch gives back a Number with its tape and its row; its value is looked up in that row.",
            "In Number: value = property(lambda self: self.tape.rows[self.row][2])",
        ),
        slips=[
            (
                "NoneType' object has no attribute 'row'",
                "watch gives nothing back: it should return the Number of its row.",
            ),
            ("IndexError", FIRST_ROW_HINT),
        ],
    ),
    AnswerTrial(
        "tape = Tape()\na, b = tape.watch(2.0), tape.watch(3.0)\nb.row, b.value, a.value",
        (1, 3.0, 2.0),
        (
            "How many rows were on the tape before this one?",
            "The row of a new number is how many rows there were before it.",
            "After the append: Number(self, len(self.rows) - 1)",
        ),
    ),
    AnswerTrial(
        "tape = Tape()\nc = tape.append('constant', [], 5.0)\nc.value, c.tape is tape, tape.rows",
        (5.0, True, [("constant", [], 5.0)]),
        (
            "What is the same for a row that is watched and one that is not?",
            "append(name, inputs, value) writes any row, and gives back its Number. watch can call it.",
            "def watch(self, value): return self.append('watched', [], value)",
        ),
    ),
)
OPERATOR_TRIALS = (
    build_ab_trial(
        "(a * b).value",
        6.0,
        (
            "Which method does Python call for a * b, and what does the table compute for 'multiply'?",
            "a * b calls a.__mul__(b), a method of Number. It lets the tape apply 'multiply'.",
            "def __mul__(self, other): return self.tape.apply('multiply', self, other)",
        ),
        slips=[
            ("unsupported operand type(s) for *: 'Number'", "Python found no __mul__ in Number."),
            ("NoneType' object has no attribute 'value'", "The operator gives nothing back: return the new Number."),
        ],
    ),
    build_ab_trial(
        "a * b\ntape.rows[-1]",
        ("multiply", [0, 1], 6.0),
        (
            "What does the row of a product say?",
            "Its name, the rows of its two inputs, and its value.",
            "self.append(name, [n.row for n in numbers], forward(*[n.value for n in numbers]))",
        ),
        slips=[
            (("multiply", [2.0, 3.0], 6.0), "Of the inputs, note the rows that they have already, n.row."),
            (("mul", [0, 1], 6.0), "The name is 'multiply', as in the table of rules."),
        ],
    ),
    build_ab_trial(
        "y = a * b + a\ny.value, tape.rows[-1]",
        (8.0, ("add", [2, 0], 8.0)),
        (
            "Which method does Python call for +, which row should it write, and what does the table have for 'add'?",
            "+ works as * does: __add__ writes a row 'add'. Let apply do for both what is the same.",
            "def __add__(self, other): return self.tape.apply('add', self, other)",
        ),
    ),
    build_ab_trial(
        "y = a + 1.0\ny.value, tape.rows[2:]",
        (3.0, [("constant", [], 1.0), ("add", [0, 2], 3.0)]),
        (
            "What is the row of 1.0 called, and does it come before the row that uses it? A rule will look there.",
            "What is no Number becomes a row of its own first, called 'constant'.",
            "n if isinstance(n, Number) else self.append('constant', [], n)",
        ),
        slips=[
            (
                "'float' object has no",
                "1.0 has no row. Which numbers can take part? Make a row 'constant' of the others.",
            )
        ],
    ),
    build_ab_trial(
        "(4.0 * a).value, (1.0 + a).value",
        (8.0, 3.0),
        (
            "Whose method does Python call for 4.0 * a?",
            "Python asks 4.0 first, which does not know a Number; then it calls a.__rmul__(4.0).",
            "__radd__, __rmul__ = __add__, __mul__",
        ),
    ),
    build_ab_trial(
        "tape.apply('multiply', a, 5.0).value",
        10.0,
        (
            "What does every operation need, whichever operator was written?",
            "apply takes the name of an operation, and what it works on; the operators call it.",
            "def apply(self, name, *things): and then forward, rule = RULES[name]",
        ),
    ),
    build_ab_trial(
        "RULES['half'] = (lambda x: 0.5 * x, lambda g, z, x: (0.5 * g,))\ntape.apply('half', a).value",
        1.0,
        (
            "Where does apply look an operation up, and how many inputs may it have?",
            "It looks in the table RULES, and an operation with one input is an operation, too.",
            "def apply(self, name, *things): and forward(*[n.value for n in numbers])",
        ),
        slips=[("apply() missing", "apply takes the name, and as many things as the operation has inputs: *things.")],
    ),
    build_ab_trial(
        "RULES['add'][1](2.0, 7.0, 3.0, 4.0), RULES['multiply'][1](2.0, 0.0, 0.0, 4.0)",
        ((2.0, 2.0), (8.0, 0.0)),
        (
            "2.0 has arrived at a sum of 3.0 and 4.0, and at a product of 0.0 and 4.0. What does each input get of it?",
            "A sum hands on g to both. A product hands on g times the value of the other factor.",
            "lambda g, z, x, y: (g, g) and lambda g, z, x, y: (g * y, g * x)",
        ),
    ),
)
BACKWARD_TRIALS = (
    build_ab_trial(
        "tape.gradient(a * b, [a, b])",
        [3.0, 2.0],
        (
            "What has arrived at the target, what is handed on, and of which rows is the answer?",
            "At the target 1.0 has arrived. The rule of its row says what each input gets of it.",
            "shares = rule(adjoints[row], value, *[self.rows[i][2] for i in inputs])",
        ),
        slips=[
            *((f"type(s) for {sign}: 'NoneType'", NONE_SUM_HINT) for sign in ("+", "+=")),
            ("KeyError: 'watched'", "What was watched and what is constant has no inputs and no rule. Skip such rows."),
            ([2.0, 3.0], "The two amounts are swapped: a gets g times the value of b."),
            ([None, None], "Both are None. Is there a 1.0 at the target, and does the loop come past it?"),
        ],
    ),
    build_ab_trial(
        "tape.gradient(a + b, [b, a])",
        [1.0, 1.0],
        (
            "How much does a sum grow if one of its inputs grows by 1?",
            "Of a sum, each input gets all that has arrived.",
            "lambda g, z, x, y: (g, g)",
        ),
    ),
    build_ab_trial(
        "tape.gradient((a + b) * b, [a, b])",
        [3.0, 8.0],
        (
            "How many paths lead from the target to b?",
            "What arrives by each of them is added.",
            "adjoints[i] = share if adjoints[i] is None else adjoints[i] + share",
        ),
        slips=[
            ([3.0, 3.0], "5.0 and 3.0 come to b, and only the second is left. Add them where paths meet."),
            ([3.0, 5.0], "5.0 and 3.0 come to b, and only the first is left. Add what comes later."),
            ([1.0, 6.0], "A rule must be given what has arrived at its row, not 1.0."),
            (
                [None, 5.0],
                "3.0 arrives at the sum, and is not passed on. Each row must have its turn after all that use it: go "
                "from the last row to the first.",
            ),
        ],
    ),
    build_ab_trial(
        "tape.gradient(a * a, [a])",
        [4.0],
        (
            "How many amounts come to a?",
            "Both inputs are the same row: it gets two amounts, and they are added.",
            "zip(inputs, shares) goes over both.",
        ),
    ),
    build_ab_trial(
        "y = a * b\ntape.gradient(y * y + y, [a, b])",
        [39.0, 26.0],
        (
            "What had arrived at y when it handed on?",
            "All must have arrived at a row before it hands on: visit the rows from the last to the first, each once.",
            "for row in range(target.row, -1, -1):",
        ),
    ),
    build_ab_trial(
        "c = tape.watch(7.0)\ntape.gradient(a * b, [c, a])",
        [None, 3.0],
        (
            "Was anything computed from c?",
            "No path leads from c to the target, so its answer is None.",
            "adjoints = [None] * len(self.rows)",
        ),
        slips=[([0.0, 3.0], "No path leads from c to the target: that is None, not zero.")],
    ),
    build_ab_trial(
        "two = tape.append('constant', [], 2.0)\ntape.gradient(a * two, [two, a])",
        [None, 2.0],
        (
            "Was two watched?",
            "What was not watched gets None, whatever arrived there.",
            "Look at the name of its row: is it 'watched'?",
        ),
    ),
    build_ab_trial(
        "y = a * b\nz = y * a\n[tape.gradient(y, [a]), tape.gradient(z, [a]), tape.gradient(y, [a])]",
        [[3.0], [12.0], [3.0]],
        (
            "What is left over from the question before?",
            "Begin each sweep with nothing arrived, at the row of its own target.",
            "adjoints = [None] * len(self.rows), as a local list in gradient",
        ),
        slips=[
            (
                [[None], [12.0], [None]],
                "y is not the last row of the tape, and gets nothing. A sweep begins at the row of its target.",
            ),
            (
                [[12.0], [12.0], [12.0]],
                "Each time that is the gradient of z, the last row. A sweep begins at the row of its target.",
            ),
        ],
    ),
    build_ab_trial(
        "tape.gradient(a, [a])",
        [1.0],
        (
            "By how much does a grow if a grows by 1?",
            "The target's 1.0 is there before the loop begins.",
            "adjoints[target.row] = 1.0",
        ),
    ),
    build_ab_trial(
        "y = a * b\nunused = a * b + a\nz = y * 2.0\ntape.gradient(z, [a, b])",
        [6.0, 4.0],
        (
            "At which rows has nothing arrived here, and what does your loop do there?",
            "Nothing arrives at the row of unused, and the constant 2.0 has no inputs. The sweep skips both, and goes "
            "on.",
            "if adjoints[row] is None or not inputs: continue",
        ),
        slips=[
            (
                [None, None],
                "Nothing came to a and b. Does the loop end at a row that has nothing to hand on? Rows before it still "
                "have: use continue, not break.",
            )
        ],
    ),
    build_ab_trial(
        "y = a * a\ntape.gradient(y * 0.0, [a])",
        [0.0],
        (
            "What has arrived at y: nothing, or zero?",
            "0.0 has arrived at y, and y hands on 0.0. Only None says that nothing has arrived.",
            "if adjoints[row] is None or not inputs: continue",
        ),
        slips=[([None], "0.0 has arrived at y. That is not None: ask with `is None`.")],
    ),
    build_ab_trial(
        "RULES['cube'] = (lambda x: x**3, lambda g, z, x: (g * 3.0 * z / x,))\n"
        "y = tape.apply('cube', a)\ntape.gradient(y * b, [a, b])",
        [36.0, 8.0],
        (
            "Where does the sweep find the rule of an operation, and how many inputs may that have?",
            "The sweep asks the table RULES at each row, and hands the rule as many values as the row has inputs.",
            "forward, rule = RULES[name], and shares = rule(adjoints[row], value, *[self.rows[i][2] for i in inputs])",
        ),
        slips=[
            ("unpack", "An operation may have one input: go over the inputs and their shares with zip."),
            ("IndexError", "An operation may have one input: go over the inputs and their shares with zip."),
            (
                [None, 8.0],
                "Nothing came to a. Is the rule of 'cube' called? Look it up in RULES, by the name in the row.",
            ),
        ],
    ),
    build_ab_trial(
        "asked = []\nRULES['same'] = (lambda x: x, lambda g, z, x: asked.append(g) or (g,))\n"
        "y = tape.apply('same', a)\ntape.gradient(y * b, [a, b]), asked",
        ([3.0, 2.0], [3.0]),
        (
            "How often does the sweep ask the rule of a row, and with what?",
            "Reverse mode asks each rule once, when all has arrived at its row, and hands it that amount.",
            "One loop over the rows, from the last to the first, and in it one call of the row's rule.",
        ),
        slips=[
            (
                ([3.0, 2.0], []),
                "The gradient is right, and no rule was called: it does not come from a sweep over rules.",
            ),
            (([3.0, 2.0], [1.0]), "The rule got 1.0, and 3.0 arrives at its row: go backwards, and hand it that."),
        ],
    ),
    AnswerTrial(
        "import numpy as np\ntape = Tape()\nv, w = tape.watch(np.array([1.0, 2.0])), tape.watch(np.array([5.0, 6.0]))\n"
        "u = tape.apply('multiply', v, np.array([3.0, 4.0]))\n"
        "y = tape.apply('multiply', v + w + u, np.array([1.0, 2.0]))\n"
        "[one.tolist() for one in tape.gradient(y, [v, w])]",
        [[4.0, 10.0], [1.0, 2.0]],
        (
            "Does your tape look at the values, or do only the rules?",
            "A row may hold an array, too: what is no Number becomes a constant, whatever it is.",
            "n if isinstance(n, Number) else self.append('constant', [], n); and adjoints[row] is None",
        ),
        slips=[
            ("truth value of an array", "==, `if` and `or` ask each number of an array. Ask whether it `is None`."),
            (
                [[4.0, 10.0], [4.0, 10.0]],
                "A sum hands one and the same array to both of its inputs, and += changes it for both. Make a new one: "
                "adjoints[i] + share.",
            ),
        ],
    ),
    AnswerTrial(
        "tape = Tape()\na = tape.watch(2.0)\ntape.gradient(sum([a] * 3000, a), [a])",
        [3001.0],
        (
            "How many amounts come to a here, and does your loop come to each row?",
            "A long tape must work as a short one does: one loop, no calls within calls.",
            "for row in range(target.row, -1, -1):",
        ),
        slips=[
            (
                "RecursionError",
                "A function that calls itself for each row ends at a thousand of them. Use a loop over the rows.",
            )
        ],
    ),
)
MORE_OPERATOR_TRIALS = (
    build_ab_trial(
        "y = a - b\ny.value, tape.gradient(y, [a, b])",
        (-1.0, [1.0, -1.0]),
        (
            "What is a - b, and what happens to it if b grows?",
            "If b grows, a - b falls. So its amount is -g.",
            "lambda g, z, x, y: (g, -g)",
        ),
    ),
    build_ab_trial(
        "y = a - 1\ny.value, tape.gradient(y, [a])",
        (1.0, [1.0]),
        (
            "What is the 1 on the tape?",
            "The 1 is a constant, as in a + 1. Let apply make its row.",
            "def __sub__(self, other): return self.tape.apply('subtract', self, other)",
        ),
    ),
    build_ab_trial(
        "y = 1.0 - a\ny.value, tape.gradient(y, [a])",
        (-1.0, [-1.0]),
        (
            "Whose method does Python call for 1.0 - a?",
            "It calls a.__rsub__(1.0): the other number comes first.",
            "def __rsub__(self, other): return self.tape.apply('subtract', other, self)",
        ),
        slips=[((1.0, [1.0]), "That is a - 1.0. In __rsub__ the other number comes first.")],
    ),
    build_ab_trial(
        "y = a / b\ny.value, tape.gradient(y, [a, b])",
        (2 / 3, [1 / 3, -2 / 9]),
        (
            "Which value has a / b, and how does it change with a and with b?",
            "a / b is a times 1 / b, and the derivative of 1 / b is -1 / b ** 2.",
            "lambda g, z, x, y: (g / y, -g * x / y**2)",
        ),
        slips=[
            ((2 / 3, [1 / 3, 2 / 9]), "If b grows, a / b falls: mind the sign."),
            ((2 / 3, [1 / 3, -1 / 9]), "For b the factor a is missing."),
            ("unsupported operand", "The method for / is called __truediv__."),
        ],
    ),
    build_ab_trial(
        "y = 1.0 / a\ny.value, tape.gradient(y, [a])",
        (0.5, [-0.25]),
        (
            "Whose method does Python call for 1.0 / a?",
            "It calls a.__rtruediv__(1.0): the other number comes first.",
            "def __rtruediv__(self, other): return self.tape.apply('divide', other, self)",
        ),
        slips=[((2.0, [1.0]), "That is a / 1.0. In __rtruediv__ the other number comes first.")],
    ),
    build_ab_trial(
        "y = -a\ny.value, tape.gradient(y, [a])",
        (-2.0, [-1.0]),
        (
            "Which method does Python call for -a?",
            "-a calls a.__neg__(). You have all that it needs: -a is 0 - a.",
            "def __neg__(self): return 0.0 - self",
        ),
    ),
    build_ab_trial(
        "y = 1.0 + a * b\nz = 3.0 * ((2.0 * y - a) / (y * y + b))\nz.value, tape.gradient(z, [b, a])",
        (0.6923076923076923, [-0.15532544378698226, -0.27071005917159763]),
        (
            "Does your tape still do what it did in the step before?",
            "Here everything comes together. Compare your gradient, + and * with those of exercise 3, line by line.",
            "Copy RULES and both classes from exercise 3, and add to them only what is new.",
        ),
        slips=[
            (
                (0.6923076923076923, [-0.05177514792899408, -0.09023668639053255]),
                "3.0 arrives at the division. Its rule hands on g times each of its slopes.",
            )
        ],
    ),
)
