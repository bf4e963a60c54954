"""Ctrl-C at every bytecode instruction at which Python checks for it leaves nothing open.

Python checks when a function begins, after each call, and before a loop repeats. No other instruction can be the last
one before a KeyboardInterrupt. Without `--longest`, a fixed sample of these places is tried.
"""

import dis

import pytest
from test_interrupts import (
    ENGINE,
    SCENARIOS,
    Plain,
    WithTapes,
    check_state_is_clean,
    find_unchecked_lines,
    is_in_finalizer,
    print_stop_count,
    run_until_interrupt,
    select_first_and_last,
    traced,
)

import minitape as tf

LOOKS = ("RESUME", "CALL", "CALL_FUNCTION_EX", "CALL_KW")
_looks: dict[object, set[int]] = {}


def find_interrupt_offsets(code):
    """Return the offsets of a code object before which Python has just checked for Ctrl-C.

    An interrupt right after the call in ``return f()`` inside a ``try`` arrives in the ``finally``, where a tracer
    cannot raise an error.
    """
    if code not in _looks:
        found, before, line = set(), "", None
        for instruction in dis.get_instructions(code):
            here = instruction.positions.lineno
            if before in LOOKS and (here == line or here not in find_unchecked_lines(code.co_filename)):
                found.add(instruction.offset)
            before, line = instruction.opname, here
            if "JUMP_BACKWARD" in before and "NO_INTERRUPT" not in before:
                found.add(instruction.argval)  # A loop jumps back.
        _looks[code] = found
    return _looks[code]


class Instructions:
    """Count the places in the engine and a scenario where Python checks for Ctrl-C, and send it at one of them."""

    def __init__(self, scenario, stop=None):
        self.stop, self.seen, self.own = stop, [], scenario.__code__

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if event == "call":
            if (code is not self.own and not code.co_filename.startswith((ENGINE, "<formula"))) or is_in_finalizer(
                frame
            ):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode" and code.co_name != "<genexpr>" and frame.f_lasti in find_interrupt_offsets(code):
            if len(self.seen) == self.stop:
                raise KeyboardInterrupt
            self.seen.append((code, frame.f_lasti))
        return self


def describe_last_place(seen):
    """Describe the place at which the interrupt arrived."""
    if not seen:
        return "at the first place"
    code, offset = seen[-1]
    line = next((line for start, end, line in code.co_lines() if start <= offset < end), None)
    return f"after {code.co_qualname} at offset {offset}, {code.co_filename}:{line}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_ctrl_c_wherever_python_looks_for_it_leaves_eager_mode(scenario, longest):
    x = tf.constant(3.0)
    run_until_interrupt(scenario, x, None, Instructions)  # Python 3.12 traces code from its second run on.
    seen = run_until_interrupt(scenario, x, None, Instructions)[0].seen
    assert len(seen) > 20
    for stop in print_stop_count(range(0, len(seen), 1 if longest or len(seen) < 300 else 1 + len(seen) // 40)):
        found, _caught = run_until_interrupt(scenario, x, stop, Instructions)
        try:
            check_state_is_clean()
        except AssertionError as error:
            raise AssertionError(describe_last_place(found.seen)) from error


@pytest.mark.parametrize(("kind", "step"), [(Plain, 301), (WithTapes, 1801)])
def test_ctrl_c_wherever_python_looks_for_it_while_a_function_is_traced(kind, step, longest):
    traced(kind())
    for stop in print_stop_count(
        select_first_and_last(run_until_interrupt(traced, kind(), None, Instructions)[0].seen)[
            :: 1 if longest else step
        ]
    ):
        subject = kind()
        found, _caught = run_until_interrupt(traced, subject, stop, Instructions)
        try:
            check_state_is_clean()
            assert subject.f(subject.x).numpy() == subject.want
        except Exception as error:
            raise AssertionError(describe_last_place(found.seen)) from error
