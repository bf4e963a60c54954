"""Ctrl-C leaves the framework as it was, whenever it arrives while a bridge's block begins, runs or ends.

The changes of a block are not listed here. Instead, all modules and classes of the framework are compared, before the
block and inside it.
"""

import gc
import sys

import pytest
from test_interrupts import print_stop_count, run_until_interrupt
from test_interrupts_bytecode import Instructions, describe_last_place, find_interrupt_offsets

from minitape.bridges import Recording
from tests.bridges.frameworks import FRAMEWORKS

NAMED = {framework.name: framework for framework in FRAMEWORKS}
CASES = [
    ("torch", "block", ""),
    ("torch", "program", "(w * w).sum().backward()"),
    ("tensorflow", "block", ""),
    ("tensorflow", "program", "with tf.GradientTape() as tape:\n    y = tf.reduce_sum(w * w)\ntape.gradient(y, w)"),
    ("jax", "function", ""),
]
WHERE = ("/minitape/", "/torch/", "/tensorflow/", "/keras/", "/contextlib.py")


def is_in_sweep(frame):
    """Return whether TensorFlow's sweep is running. Its C++ may crash if a Python function raises an error."""
    while frame is not None and frame.f_code.co_name != "imperative_grad":
        frame = frame.f_back
    return frame is not None


class Everywhere(Instructions):
    """Interrupts that also occur in the framework's functions that are called on entry to a block and exit from it."""

    def __call__(self, frame, event, arg):
        if event == "call":
            if not any(part in frame.f_code.co_filename for part in WHERE) and frame.f_code.co_name != "disable_jit":
                return None  # JAX itself handles Ctrl-C here.
            if is_in_sweep(frame):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode" and frame.f_lasti in find_interrupt_offsets(frame.f_code):
            if len(self.seen) == self.stop:
                raise KeyboardInterrupt
            self.seen.append((frame.f_code, frame.f_lasti))
        return self


def list_mappings(name, known=()):
    """Return (mapping, its values by name) for the modules and classes of a framework, and for their dictionaries."""
    found = {}
    for module in (
        [module for path, module in sys.modules.items() if path.partition(".")[0] in (name, "keras")]
        if not known
        else ()
    ):
        found[id(vars(module))] = vars(module)
        for value in list(vars(module).values()):
            if issubclass(type(value), type):  # Some objects warn if their attributes are read.
                found[id(value)] = vars(value)
            elif issubclass(type(value), dict):
                found[id(value)] = value
    return [
        (held, {key: value for key, value in held.items() if type(value) is not int})
        for held in known or found.values()
    ]


def find_changed_mappings(before):
    """Return the mappings whose contents have changed."""
    return [
        held
        for (held, then), (_, now) in zip(before, list_mappings("", [held for held, _ in before]), strict=True)
        if then.keys() != now.keys() or any(now[key] is not value for key, value in then.items())
    ]


def read_hidden_state(name, w):
    """Return what a framework stores for a thread, or for a tensor."""
    if name == "torch":
        import torch
        from torch.overrides import _get_current_function_mode_stack

        modes = _get_current_function_mode_stack(), torch.is_grad_enabled(), torch._C._is_torch_function_enabled()
        return modes, w._backward_hooks, w._post_accumulate_grad_hooks
    if name == "jax":
        import jax

        return jax.config.jax_disable_jit
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    return (
        list(context.context().op_callbacks),
        context.context().invoking_op_callbacks,
        pywrap_tfe.TFE_Py_TapeSetIsStopped(),
    )


def build_subject(framework):
    """Return a leaf, and a function that runs a program in a block."""
    module = framework.module
    if framework.name == "jax":
        w = module.numpy.ones(2)
        return w, lambda program: framework.bridge.record(lambda w: module.numpy.sum(w * w), w)
    w = module.ones(2, requires_grad=True) if framework.name == "torch" else module.Variable([1.0, 2.0])

    def recorded(program):
        try:
            with framework.bridge.record():
                exec(program, {framework.import_name: module, "w": w})
        except SystemError as error:  # Some of TensorFlow's C++ code raises this instead.
            raise KeyboardInterrupt from error

    return w, recorded


@pytest.mark.parametrize(("name", "what", "text"), CASES, ids=[f"{name}-{what}" for name, what, _ in CASES])
def test_ctrl_c_leaves_the_framework_as_it_was(name, what, text, longest):
    framework, program = NAMED[name], compile(text, "program", "exec")
    w, recorded = build_subject(framework)
    recorded(program)  # The first use creates some objects.
    before, threads = list_mappings(name), read_hidden_state(name, w)
    if what != "function":
        with framework.bridge.record():
            changed = {id(held) for held in find_changed_mappings(before)}
        assert len(changed) > 4 and not find_changed_mappings(before)
        before = [(held, then) for held, then in before if id(held) in changed]
    else:
        before = []
    seen = run_until_interrupt(recorded, program, None, Everywhere)[0].seen
    for stop in print_stop_count(range(0, len(seen), 1 if longest or what == "block" else 1 + len(seen) // 50)):
        found, _caught = run_until_interrupt(recorded, program, stop, Everywhere)
        assert not find_changed_mappings(before) and read_hidden_state(name, w) == threads, describe_last_place(
            found.seen
        )
    del _caught
    gc.collect()
    assert not [one for one in gc.get_objects() if Recording in type(one).__mro__]


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, what, text in CASES if what == "program"], ids=["torch", "tensorflow"]
)
def test_a_block_that_ends_late_leaves_alone_what_a_later_one_has_changed(name, text):
    framework = NAMED[name]
    w, recorded = build_subject(framework)
    recorded(text)
    before, threads = list_mappings(name), read_hidden_state(name, w)

    def waiting():
        with framework.bridge.record() as recording:
            yield recording

    late = waiting()
    first = next(late)
    with framework.bridge.record() as second:
        late.close()
        exec(text, {framework.import_name: framework.module, "w": w})
    assert (len(first.sweeps), len(second.sweeps)) == (0, 1)
    assert not find_changed_mappings(before) and read_hidden_state(name, w) == threads
