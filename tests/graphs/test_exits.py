"""Returns, breaks and continues: a rewritten function leaves its statements where Python does."""

import contextlib

import pytest

import minitape as tf


class Left(Exception):
    """Raised by the functions below."""


def from_try(x, log):
    try:
        if x > 2:
            return x
        log.append("tried")
    finally:
        log.append("finally")
    return -x


def from_with(x, log):
    with contextlib.nullcontext():
        if x > 2:
            return x
        for i in range(3):
            if i == x:
                return "found"
    return -x


def from_handler(x, log):
    for i in range(4):
        try:
            if i == x:
                raise Left
            log.append(i)
        except Left as error:
            if x > 1:
                return i, str(error)
            break
        else:
            log.append("else")
    return log[-1:]


def swallowed(x, log):
    if x > 0:
        with contextlib.suppress(KeyError):
            return {1: "one"}[x]
    return "none"


def without_else(x, log):
    for i in range(5):
        try:
            if i < x:
                continue
            log.append(i)
        except Left:
            log.append("never")
        else:
            if i > 3:
                break
            log.append("went on")
        finally:
            log.append("finally")
    return tuple(log)


def of_cases(x, log):
    for value in (x, [x, 1, 2], {"k": x, "l": 3}):
        match value:
            case 0 | 1:
                if x:
                    continue
                log.append("zero")
            case [first, *rest]:
                if first > 2:
                    return first, rest
                log.append(len(rest))
            case {"k": k, **others}:
                log.append((k, others))
                if k == 1:
                    break
    else:
        return "else"
    return "broke"


def of_loops(x, log):
    for i in range(3):
        for j in range(3):
            if i * j == x:
                log.append((i, j))
                if i:
                    return i, j
                break
        else:
            if i > 1:
                break
            continue
        log.append("inner broke")
    else:
        for k in range(x):
            if k > 2:
                return k
        return "inner else"
    return "outer broke"


def with_named_test(x, log):
    n = 0
    while (square := n * n) < x:
        n += 1
        if square == 4:
            continue
        log.append(square)
    return n


def fails_inside(x, log):  # noqa: RET503 - what is tested
    if x > 1:
        if x == 2:
            return "two"
        try:
            raise Left
        except Left as error:
            log.append(repr(error))
        if x == 3:
            return "three"


FUNCTIONS = [from_try, from_with, from_handler, swallowed, without_else, of_cases, of_loops, with_named_test, fails_inside]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", range(5))
def test_as_in_python(function, x):
    first, second = [], []
    converted = tf.autograph.to_graph(function)
    assert (converted(x, first), first) == (function(x, second), second)


def calls(x):
    def inner(value):  # noqa: RET503 - what is tested
        if value > 2:
            return value

    return inner(x) is None


def test_a_function_inside_that_returns_nothing():
    assert [tf.autograph.to_graph(calls)(x) for x in (1, 3)] == [True, False]


def test_many_conditions_do_not_double_the_code():
    lines = [f"    if n > {i}:\n        if n == {i + 1}:\n            return {i}\n" for i in range(24)]
    function = _defined(f"def many(n):\n{''.join(lines)}    return -1\n", "many")
    assert len(tf.autograph.to_code(function)) < 10**6  # it was 10**9
    many = tf.autograph.to_graph(function)
    assert [many(n) for n in (0, 1, 5, 24, 25)] == [-1, 0, 4, 23, -1]


def _defined(text, name):
    import linecache

    file = f"<source of {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"__name__": "user"}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


class Kept:
    """An object whose attributes functions assign."""

    def __init__(self, **values):
        self.__dict__.update(values)


def test_an_attribute_that_one_branch_alone_sets():
    @tf.function
    def f(x, one):
        kept = Kept(a=x)
        if x > 0:
            kept.b = x
        else:
            kept.a = -x
        return kept.b if one else kept.a

    assert f(tf.constant(-2.0), False).numpy() == 2.0
    with pytest.raises(ValueError, match=r"'kept\.b' must also be initialized in the else branch"):
        f(tf.constant(2.0), True)


def test_an_attribute_that_was_not_there_is_not_there_in_the_other_branch():
    seen = []
    kept = Kept()

    @tf.function
    def f(x):
        if x > 0:
            kept.b = x
            y = x
        else:
            seen.append(hasattr(kept, "b"))
            y = -x
        return y

    f(tf.constant(2.0))
    assert seen == [False]


def test_parts_of_parts_and_returns():
    total = {"sum": tf.constant(0.0)}

    @tf.function
    def f(x, n):
        kept = Kept(inner=Kept(v=x), items=[x, x])
        for i in tf.range(n):
            kept.inner.v *= 2.0
            kept.items[1] += kept.inner.v
            total["sum"] += tf.cast(i, tf.float32)
        if kept.inner.v > 10.0:
            kept.inner.v = -kept.inner.v
            return kept
        return kept

    kept = Kept()

    @tf.function
    def g(x, n):
        found = f.python_function(x, n)
        y = total["sum"]
        total["sum"] = tf.constant(0.0)
        return found.inner.v, found.items[1], y

    assert [float(t) for t in g(tf.constant(1.0), tf.constant(4))] == [-16.0, 31.0, 6.0]
    assert [float(t) for t in g(tf.constant(1.0), tf.constant(2))] == [4.0, 7.0, 1.0]
    assert not vars(kept)
