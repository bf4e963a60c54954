"""Returns, breaks and continues: a rewritten function leaves its statements where Python does."""

import contextlib

import pytest

import minitape as tf
from minitape.graphs.autograph import convert_entry


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


FUNCTIONS = [
    from_try,
    from_with,
    from_handler,
    swallowed,
    without_else,
    of_cases,
    of_loops,
    with_named_test,
    fails_inside,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", range(5))
def test_as_in_python(function, x):
    first, second = [], []
    converted = convert_entry(function)
    assert (converted(x, first), first) == (function(x, second), second)


class Kept:
    """An object whose attributes functions assign."""

    def __init__(self, **values):
        self.__dict__.update(values)


def sets_in_a_branch(kept, x):
    if x > 0:
        kept.a = x
    return x


def sets_in_a_loop(kept, x):
    for _ in tf.range(2):
        kept.items["a"] = x
    return x


def sets_what_is_global(kept, x):
    global COUNTED
    while x > 0:
        COUNTED = x
        x -= 1
    return x


COUNTED = None


@pytest.mark.parametrize("function", [sets_in_a_branch, sets_in_a_loop, sets_what_is_global])
def test_what_is_no_local_name_gets_a_value_where_a_tensor_decides(function):
    """It is what plain Python gives it."""
    kept, seen = Kept(a=0, items={"a": 0}), Kept(a=0, items={"a": 0})

    def values(kept, x):
        function(kept, x)
        return kept.a, kept.items["a"], 0 if COUNTED is None else COUNTED

    found = tf.function(values)(kept, tf.constant(2))
    assert [int(v) for v in found] == [int(v) for v in values(seen, 2)]
    assert convert_entry(function)(kept, 1) in (0, 1)
