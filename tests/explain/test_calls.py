"""How much work an answer is, in calls of Python functions, which do not depend on the machine."""

import gc
import sys
from collections import Counter
from pathlib import Path

import pytest

import minitape as tf

PACKAGE = str(Path(tf.__file__).parent)


class CallCount:
    """The calls of minitape's functions.

    Attributes:
        by_name: How often each function was called.
        package_changes: How often a function of one package called, or was followed by, one of another package.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.by_name: Counter[str] = Counter()
        self.package_changes = 0
        self._last_package = ""

    def __call__(self, frame, event, argument) -> None:
        """Count a call, as a profile function."""
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            package = frame.f_code.co_filename.removeprefix(PACKAGE).split("/")[1]
            self.package_changes += package != self._last_package
            self._last_package = package
            self.by_name[frame.f_code.co_name] += 1


def record_chain(operations, is_cut):
    x = tf.Variable(0.3)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(operations):
            y = tf.sin(y)
        if is_cut:
            y = tf.stop_gradient(y) * 2.0
    return tape, y, x


def count_calls_of_explain(operations, is_cut):
    """The least of four counts: the first one reads the program, and a full cache may be emptied in another one."""
    counts = [count_calls_of_one_explanation(operations, is_cut) for _ in range(4)]
    return min(counts, key=lambda count: count.by_name.total())


def count_calls_of_one_explanation(operations, is_cut):
    tape, y, x = record_chain(operations, is_cut)
    count = CallCount()
    gc.disable()  # What it collects may belong to another test, and its callbacks would be counted.
    sys.setprofile(count)
    try:
        answer = tape.explain(y, x)
    finally:
        sys.setprofile(None)
        gc.enable()
    assert answer.cause == ("stop_gradient" if is_cut else "connected")
    return count


def test_two_operations_take_few_calls() -> None:
    count = count_calls_of_explain(2, is_cut=False)
    assert count.by_name.total() <= 608 and count.package_changes <= 183


@pytest.mark.parametrize(("is_cut", "most_calls"), [(False, 85), (True, 60)])
def test_each_further_operation_adds_few_calls_and_is_read_once(is_cut, most_calls) -> None:
    few, many = (count_calls_of_explain(operations, is_cut) for operations in (10, 30))
    assert many.by_name.total() - few.by_name.total() <= 20 * most_calls
    # The cells of a row are read once for its edges, and once for its line if that is needed.
    reads = many.by_name["_read_cells"] - few.by_name["_read_cells"]
    assert reads <= 20 and many.by_name["read_integer_cells"] - few.by_name["read_integer_cells"] <= 20
