"""Run a case on a module with TensorFlow's API, and record everything that can be observed.

`observe_case` returns a record that can be stored as JSON, and `compare_records` lists the differences between two
records. This module imports neither TensorFlow nor minitape. It distinguishes values by the names of their classes, so
the same code observes both.
"""

import ast
import contextlib
import io
import linecache
import logging
import os
import random
import re
import signal
import sys
import tempfile
import threading
import warnings
from operator import attrgetter

import numpy as np
from corpus import Case

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
TOLERANCES = {"float64": 1e-7, "complex128": 1e-7, "float16": 4e-3}
SHOWN_ELEMENTS = 400


class CaseTimeout(BaseException):
    """A case exceeded its time limit."""


# ---------------------------------------------------------------- text
def normalize_text(text: str) -> str:
    """Remove kernel names, memory addresses, library folders and trailing blanks from a text."""
    text = re.sub(r"/\S+/(?=site-packages/)", "", text)
    text = re.sub(r"\{\{function_node [^}]*\}\} ?", "", text)
    text = re.sub(r"\{\{node ([^}]*)\}\}", r"{{node}}", text)
    text = re.sub(r" ?\[Op:[A-Za-z0-9_]+\]( name: ?[^\n]*)?", "", text)
    text = re.sub(r"0x[0-9a-fA-F]{6,}", "0x", text)
    text = re.sub(r"__inference_(\w+?)_\d+", r"__inference_\1_0", text)
    text = re.sub(r"pyfunc_\d+", "pyfunc_0", text)
    text = re.sub(r'File "[^"]*", line \d+', 'File "<case>"', text)
    return "\n".join(line.rstrip() for line in text.split("\n"))


# ---------------------------------------------------------------- values
def describe_value(value, depth: int = 0):
    """Describe a value by its kind, dtype, shape and elements, in a form that can be stored as JSON.

    Args:
        value: Any value. Only the first elements of a large array are described.
        depth: The nesting depth of the value. Elements deeper than 8 are omitted.
    """
    if value is None or (isinstance(value, (bool, int, str)) and type(value) in (bool, int, str)):
        return value
    if type(value) is float:
        return {"float": _to_json_number(value)}
    if depth > 8:
        return {"object": "..."}
    for test, describer in _DESCRIBERS:
        if test(value):
            return describer(value, depth + 1)
    return {"object": type(value).__name__}


def _match_class_names(*names):
    return lambda value: any(cls.__name__ in names for cls in type(value).__mro__)


def _describe_array(value) -> dict:
    array = np.asarray(value)
    is_text = array.dtype.kind in "SU" or (
        array.dtype == object and all(isinstance(i, (bytes, str)) for i in array.flat)
    )
    name = "string" if is_text else array.dtype.name
    flat = [_to_json_number(item) for item in array.reshape(-1)[:SHOWN_ELEMENTS]]
    return {"dtype": name, "shape": list(array.shape), "value": _nest_elements(flat, array.shape)}


def _nest_elements(flat, shape):
    if len(shape) == 0:
        return flat[0]
    if len(shape) == 1 or 0 in shape or int(np.prod(shape)) > SHOWN_ELEMENTS:
        return flat
    step = len(flat) // shape[0]
    return [_nest_elements(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _to_json_number(item):
    if isinstance(item, (bool, np.bool_)):
        return bool(item)
    if isinstance(item, np.ndarray):
        return [_to_json_number(i) for i in item.reshape(-1)]
    if isinstance(item, (int, np.integer)):
        return int(item)
    if isinstance(item, (bytes, str)):
        return repr(item)
    if isinstance(item, (complex, np.complexfloating)):
        return [_to_json_number(item.real), _to_json_number(item.imag)]
    if hasattr(item, "__float__"):
        number = float(str(item))
        return number if np.isfinite(number) else str(number)
    return repr(item)


def _describe_tensor(value, depth):
    try:
        array = value.numpy()
    except (AttributeError, NotImplementedError):
        return {"symbolic": _get_dtype_name(value), "shape": _list_sizes(value.shape)}
    if _get_dtype_name(value) in ("resource", "variant"):
        return {"tensor": _get_dtype_name(value)}
    return {"tensor": _describe_array(array)}


def _get_dtype_name(value) -> str:
    return getattr(value.dtype, "name", str(value.dtype))


def _list_sizes(shape):
    if getattr(shape, "rank", 0) is None:
        return None
    return [None if n is None else int(n) for n in shape]


def _describe_variable(value, depth):
    return {"variable": _describe_tensor(value, depth)}


def _describe_dict(value, depth):
    return {"dict": [[str(key), describe_value(item, depth)] for key, item in value.items()]}


def _describe_tuple(value, depth):
    kind = "tuple" if type(value) is tuple or not hasattr(value, "_fields") else "namedtuple"
    return {kind: [describe_value(item, depth) for item in value]}


_DESCRIBERS = [
    (_match_class_names("SparseTensor"), lambda v,
     d: {"sparse": {k: describe_value(getattr(v, k), d) for k in ("indices", "values", "dense_shape")}}),
    (_match_class_names("RaggedTensor"), lambda v,
     d: {"ragged": v.dtype.name, "shape": _list_sizes(v.shape), "value": describe_value(v.to_list(), d)}),
    (_match_class_names("TensorShape"), lambda v, d: {"TensorShape": _list_sizes(v)}),
    (_match_class_names("DType"), lambda v, d: {"DType": v.name}),
    (_match_class_names("Variable", "KerasVariable", "BaseResourceVariable", "ResourceVariable"), _describe_variable),
    (_match_class_names("Tensor", "EagerTensor"), _describe_tensor),
    (lambda v: isinstance(v, np.ndarray), lambda v, d: {"ndarray": _describe_array(v)}),
    (lambda v: isinstance(v, (np.generic, bytes, complex)), lambda v, d: {"scalar": _describe_array(v)}),
    (lambda v: isinstance(v, dict), _describe_dict),
    (lambda v: isinstance(v, list), lambda v, d: [describe_value(item, d) for item in v]),
    (lambda v: isinstance(v, tuple), _describe_tuple),
    (lambda v: isinstance(v, (set, frozenset)), lambda v, d: {"set": sorted(map(str, v))}),
    (lambda v: isinstance(v, type), lambda v, d: {"class": v.__name__}),
]  # fmt: skip


# ---------------------------------------------------------------- running
class _LogTrap(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        text = record.getMessage()
        if not text.startswith("AutoGraph") and "<function pfor" not in text and text not in self.texts:
            self.texts.append(text)


@contextlib.contextmanager
def _capture_logs():
    trap, loggers = _LogTrap(), [logging.getLogger(name) for name in (None, "tensorflow", "minitape")]
    saved_states = [(logger.handlers[:], logger.level) for logger in loggers]
    for logger in loggers:
        logger.handlers = [trap]
    try:
        yield trap
    finally:
        for logger, (handlers, level) in zip(loggers, saved_states, strict=True):
            logger.handlers = handlers
            logger.setLevel(level)


@contextlib.contextmanager
def _limit_time(seconds):
    if not (seconds and hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()):
        yield
        return

    def raise_timeout(signum, frame):
        raise CaseTimeout(f"took longer than {seconds:g} s")

    old_handler = signal.signal(signal.SIGALRM, raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)


@contextlib.contextmanager
def _capture_stderr(record, includes_process):
    """Record what is written to stderr during the block.

    The process's stderr is recorded only if `includes_process` is true. TensorFlow's `tf.print` writes there, bypassing
    Python.
    """
    if not includes_process:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
        return
    with contextlib.redirect_stderr(io.StringIO()) as python_stderr, tempfile.TemporaryFile() as process_stderr:
        saved_descriptor = os.dup(2)
        os.dup2(process_stderr.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved_descriptor, 2)
            os.close(saved_descriptor)
            process_stderr.seek(0)
            record["stderr"] = process_stderr.read().decode() + python_stderr.getvalue()


# A module does not repeat a log message, even in another case, so its counter must be cleared.
LOG_COUNTERS = (
    ("tensorflow.python.platform.tf_logging", "_log_counter_per_token"),
    (
        "tensorflow.python.eager.polymorphic_function.polymorphic_function",
        "_frequent_tracing_detector_manager._detectors",
    ),
    ("minitape.engine.record.log_warnings", "_log_counts"),
)


def reset_state(tf, code: str = "keras") -> None:
    """Reset seeds, eager mode and log counters to the state of a fresh process.

    Args:
        tf: The module.
        code: The program that will be run. If the code contains "keras", name counters are also reset.
    """
    random.seed(0)
    np.random.seed(0)
    with contextlib.suppress(Exception):
        tf.random.set_seed(1234)
    with contextlib.suppress(Exception):
        tf.config.run_functions_eagerly(False)
    if "keras" in code:
        with contextlib.suppress(Exception):
            tf.keras.utils.clear_session()
    for module, counter in LOG_COUNTERS:
        if module in sys.modules:
            attrgetter(counter)(sys.modules[module]).clear()


def observe_case(tf, case: Case, seconds: float = 20.0) -> dict:
    """Run a case on a module.

    Args:
        tf: The module: TensorFlow or minitape.
        case: The case.
        seconds: The time limit.

    Returns:
        A record of the printed text, values, errors, warnings and logs. Empty parts are omitted.
    """
    reset_state(tf, case.code)
    record = {"values": []}
    filename = f"<{case.area}/{case.name}>"
    linecache.cache[filename] = (len(case.code), None, case.code.splitlines(True), filename)
    namespace = {"__name__": "__main__", "tf": tf, "np": np}
    printed = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught_warnings,
        _capture_logs() as logs,
        contextlib.redirect_stdout(printed),
        _capture_stderr(record, "tf.print" in case.code),
    ):
        warnings.simplefilter("always")
        try:
            with _limit_time(seconds):
                for node in ast.parse(case.code, filename).body:
                    _run_statement(node, filename, namespace, record)
        except (Exception, CaseTimeout, SystemExit) as error:
            record["error"] = [type(error).__name__]
    record["printed"] = printed.getvalue()
    record["warnings"] = [
        [w.category.__name__, normalize_text(str(w.message))]
        for w in caught_warnings
        if not issubclass(w.category, (DeprecationWarning, PendingDeprecationWarning, ResourceWarning))
    ]
    record["logs"] = [normalize_text(text) for text in logs.texts]
    return {key: value for key, value in record.items() if value not in ([], "", None)}


def _run_statement(node, filename, namespace, record):
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        exec(compile(ast.Module([node], []), filename, "exec"), namespace)
        return
    try:
        value = eval(compile(ast.Expression(node.value), filename, "eval"), namespace)
    except Exception as error:
        record["values"].append({"error": [type(error).__name__]})
        return
    function_node = node.value.func if isinstance(node.value, ast.Call) else None
    if not (isinstance(function_node, ast.Name) and function_node.id == "print"):
        record["values"].append(describe_value(value))


# ---------------------------------------------------------------- comparing
def compare_records(case: Case, actual: dict, expected: dict) -> list[str]:
    """Compare two records of a case.

    Args:
        case: The case, whose options set the tolerances.
        actual: minitape's record.
        expected: TensorFlow's record.

    Returns:
        A description of each difference.
    """
    rtol = float(case.options["rtol"]) if "rtol" in case.options else None
    text_tolerance = (rtol or 1e-5) if "tol" in case.options else None
    differences = []
    if not _is_same_text(actual.get("printed", ""), expected.get("printed", ""), text_tolerance):
        differences.append(f"printed {actual.get('printed', '')!r}\n   want {expected.get('printed', '')!r}")
    if normalize_text(actual.get("stderr", "")) != normalize_text(expected.get("stderr", "")):
        differences.append(f"stderr {actual.get('stderr', '')!r}\n  want {expected.get('stderr', '')!r}")
    values, expected_values = actual.get("values", []), expected.get("values", [])
    if len(values) != len(expected_values):
        differences.append(f"{len(values)} observations, want {len(expected_values)}")
    for i, (actual_value, expected_value) in enumerate(zip(values, expected_values, strict=False)):
        if not _is_same_value(actual_value, expected_value, rtol):
            differences.append(f"observation {i}: got {actual_value}\n               want {expected_value}")
    if not _is_same_value(_select_error(actual), _select_error(expected), rtol):
        differences.append(f"error {actual.get('error')}\n   want {expected.get('error')}")
    return differences + _compare_warnings(actual, expected)


def _select_error(record):
    return {"error": record["error"]} if "error" in record else None


def _compare_warnings(actual, expected):
    # To Keras's warning about missing gradients, minitape adds the reason on separate lines.
    actual_warnings = [
        [kind, text.partition("\n")[0] if text.startswith("Gradients do not exist") else text]
        for kind, text in actual.get("warnings", [])
    ]
    actual_logs = actual.get("logs", [])
    differences = [
        f"no warning {w}; got {actual_warnings}" for w in expected.get("warnings", []) if w not in actual_warnings
    ]
    texts = actual_logs + [text for _, text in actual_warnings]
    differences += [f"nothing logged {text!r}; got {texts}" for text in expected.get("logs", []) if text not in texts]
    expected_texts = expected.get("logs", []) + [text for _, text in expected.get("warnings", [])]
    return differences + [f"unexpected warning {w}" for w in actual_warnings if w[1] not in expected_texts]


def _is_same_text(actual, expected, tolerance):
    actual, expected = normalize_text(actual), normalize_text(expected)
    if actual == expected:
        return True
    if tolerance is None:
        return False
    text_patterns = [re.sub(r"\s+", "", NUMBER.sub("#", text)) for text in (actual, expected)]
    if text_patterns[0] != text_patterns[1]:
        return False
    return all(
        abs(float(a) - float(b)) <= tolerance * max(1.0, abs(float(b)))
        for a, b in zip(NUMBER.findall(actual), NUMBER.findall(expected), strict=True)
    )


def _is_same_value(actual, expected, rtol=None):
    if isinstance(expected, dict) and "error" in expected:
        if not (isinstance(actual, dict) and "error" in actual):
            return False
        return (
            actual["error"][0] == expected["error"][0]
        )  # Only the class is compared, because minitape's messages differ.
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or actual.keys() != expected.keys():
            return False
        inner_rtol = rtol or TOLERANCES.get(expected.get("dtype"))
        return all(_is_same_value(actual[key], expected[key], inner_rtol) for key in expected)
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(expected)
            and all(_is_same_value(a, b, rtol) for a, b in zip(actual, expected, strict=True))
        )
    if isinstance(expected, float) and isinstance(actual, float):
        rtol = rtol or 2e-5
        return abs(actual - expected) <= rtol * abs(expected) + rtol / 20
    return type(actual) is type(expected) and actual == expected
