"""Runs one case against a module spelled as TensorFlow and says what could be seen.

`observe` gives a JSON-able record; `compare` says where two records differ.
Nothing here imports TensorFlow or minitape: values are told apart by the names
of their classes, so the same code looks at both.
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
    """A case took longer than its limit."""


# ---------------------------------------------------------------- text
def normalise(text: str) -> str:
    """Drops kernel names, memory addresses, the folder of libraries and blanks at line ends from a text."""
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
def describe(value, depth: int = 0):
    """A JSON-able description of a value: kind, dtype, shape and elements."""
    if value is None or (isinstance(value, (bool, int, str)) and type(value) in (bool, int, str)):
        return value
    if type(value) is float:
        return {"float": _number(value)}
    if depth > 8:
        return {"object": "..."}
    for test, describer in _DESCRIBERS:
        if test(value):
            return describer(value, depth + 1)
    return {"object": type(value).__name__}


def _is(*names):
    return lambda value: any(cls.__name__ in names for cls in type(value).__mro__)


def _array(value) -> dict:
    array = np.asarray(value)
    texts = array.dtype.kind in "SU" or (array.dtype == object and all(isinstance(i, (bytes, str)) for i in array.flat))
    name = "string" if texts else array.dtype.name
    flat = [_number(item) for item in array.reshape(-1)[:SHOWN_ELEMENTS]]
    return {"dtype": name, "shape": list(array.shape), "value": _nest(flat, array.shape)}


def _nest(flat, shape):
    if len(shape) == 0:
        return flat[0]
    if len(shape) == 1 or 0 in shape or int(np.prod(shape)) > SHOWN_ELEMENTS:
        return flat
    step = len(flat) // shape[0]
    return [_nest(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _number(item):
    if isinstance(item, (bool, np.bool_)):
        return bool(item)
    if isinstance(item, np.ndarray):
        return [_number(i) for i in item.reshape(-1)]
    if isinstance(item, (int, np.integer)):
        return int(item)
    if isinstance(item, (bytes, str)):
        return repr(item)
    if isinstance(item, (complex, np.complexfloating)):
        return [_number(item.real), _number(item.imag)]
    if hasattr(item, "__float__"):
        number = float(str(item))
        return number if np.isfinite(number) else str(number)
    return repr(item)


def _tensor(value, depth):
    try:
        array = value.numpy()
    except (AttributeError, NotImplementedError):
        return {"symbolic": _dtype_name(value), "shape": _dims(value.shape)}
    return {"tensor": _array(array) if _dtype_name(value) not in ("resource", "variant") else _dtype_name(value)}


def _dtype_name(value) -> str:
    return getattr(value.dtype, "name", str(value.dtype))


def _dims(shape):
    if getattr(shape, "rank", 0) is None:
        return None
    return [None if n is None else int(n) for n in shape]


def _variable(value, depth):
    return {"variable": _tensor(value, depth)}


def _dict(value, depth):
    return {"dict": [[str(key), describe(item, depth)] for key, item in value.items()]}


def _tuple(value, depth):
    kind = "tuple" if type(value) is tuple or not hasattr(value, "_fields") else "namedtuple"
    return {kind: [describe(item, depth) for item in value]}


_DESCRIBERS = [
    (_is("SparseTensor"), lambda v,
     d: {"sparse": {k: describe(getattr(v, k), d) for k in ("indices", "values", "dense_shape")}}),
    (_is("RaggedTensor"), lambda v,
     d: {"ragged": v.dtype.name, "shape": _dims(v.shape), "value": describe(v.to_list(), d)}),
    (_is("TensorShape"), lambda v, d: {"TensorShape": _dims(v)}),
    (_is("DType"), lambda v, d: {"DType": v.name}),
    (_is("Variable", "KerasVariable", "BaseResourceVariable", "ResourceVariable"), _variable),
    (_is("Tensor", "EagerTensor"), _tensor),
    (lambda v: isinstance(v, np.ndarray), lambda v, d: {"ndarray": _array(v)}),
    (lambda v: isinstance(v, (np.generic, bytes, complex)), lambda v, d: {"scalar": _array(v)}),
    (lambda v: isinstance(v, dict), _dict),
    (lambda v: isinstance(v, list), lambda v, d: [describe(item, d) for item in v]),
    (lambda v: isinstance(v, tuple), _tuple),
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
def _logs():
    trap, loggers = _LogTrap(), [logging.getLogger(name) for name in (None, "tensorflow", "minitape")]
    before = [(logger.handlers[:], logger.level) for logger in loggers]
    for logger in loggers:
        logger.handlers = [trap]
    try:
        yield trap
    finally:
        for logger, (handlers, level) in zip(loggers, before, strict=True):
            logger.handlers = handlers
            logger.setLevel(level)


@contextlib.contextmanager
def _time_limit(seconds):
    if not (seconds and hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()):
        yield
        return

    def stop(signum, frame):
        raise CaseTimeout(f"took longer than {seconds:g} s")

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@contextlib.contextmanager
def _stderr(record, wanted):
    """Python's and, when wanted, the process's stderr: TensorFlow's `tf.print` writes past Python."""
    if not wanted:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
        return
    with contextlib.redirect_stderr(io.StringIO()) as high, tempfile.TemporaryFile() as low:
        kept = os.dup(2)
        os.dup2(low.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            low.seek(0)
            record["stderr"] = low.read().decode() + high.getvalue()


LOGGED_ONCE = (  # module and counter: what was said already is not said again, also where another case was told
    ("tensorflow.python.platform.tf_logging", "_log_counter_per_token"),
    (
        "tensorflow.python.eager.polymorphic_function.polymorphic_function",
        "_frequent_tracing_detector_manager._detectors",
    ),
    ("minitape.engine.recording.logs", "_logged"),
)


def reset(tf, code: str = "keras") -> None:
    """Seeds, eager mode and log counters as in a fresh process; name counters if the code says keras."""
    random.seed(0)
    np.random.seed(0)
    with contextlib.suppress(Exception):
        tf.random.set_seed(1234)
    with contextlib.suppress(Exception):
        tf.config.run_functions_eagerly(False)
    if "keras" in code:
        with contextlib.suppress(Exception):
            tf.keras.utils.clear_session()
    for module, counter in LOGGED_ONCE:
        if module in sys.modules:
            attrgetter(counter)(sys.modules[module]).clear()


def observe(tf, case: Case, seconds: float = 20.0) -> dict:
    """Runs a case on module `tf`; gives printed text, values, errors, warnings and logs."""
    reset(tf, case.code)
    record = {"values": []}
    filename = f"<{case.area}/{case.name}>"
    linecache.cache[filename] = (len(case.code), None, case.code.splitlines(True), filename)
    space = {"__name__": "__main__", "tf": tf, "np": np}
    printed = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as seen,
        _logs() as logs,
        contextlib.redirect_stdout(printed),
        _stderr(record, "tf.print" in case.code),
    ):
        warnings.simplefilter("always")
        try:
            with _time_limit(seconds):
                for node in ast.parse(case.code, filename).body:
                    _step(node, filename, space, record)
        except (Exception, CaseTimeout, SystemExit) as error:
            record["error"] = [type(error).__name__]
    record["printed"] = printed.getvalue()
    record["warnings"] = [
        [w.category.__name__, normalise(str(w.message))]
        for w in seen
        if not issubclass(w.category, (DeprecationWarning, PendingDeprecationWarning, ResourceWarning))
    ]
    record["logs"] = [normalise(text) for text in logs.texts]
    return {key: value for key, value in record.items() if value not in ([], "", None)}


def _step(node, filename, space, record):
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        exec(compile(ast.Module([node], []), filename, "exec"), space)
        return
    try:
        value = eval(compile(ast.Expression(node.value), filename, "eval"), space)
    except Exception as error:
        record["values"].append({"error": [type(error).__name__]})
        return
    called = node.value.func if isinstance(node.value, ast.Call) else None
    if not (isinstance(called, ast.Name) and called.id == "print"):
        record["values"].append(describe(value))


# ---------------------------------------------------------------- comparing
def compare(case: Case, got: dict, want: dict) -> list[str]:
    """Lines saying where `got` differs from `want`; empty if it does not."""
    rtol = float(case.options["rtol"]) if "rtol" in case.options else None
    misses = []
    if not _same_text(got.get("printed", ""), want.get("printed", ""), rtol or 1e-5 if "tol" in case.options else None):
        misses.append(f"printed {got.get('printed', '')!r}\n   want {want.get('printed', '')!r}")
    if normalise(got.get("stderr", "")) != normalise(want.get("stderr", "")):
        misses.append(f"stderr {got.get('stderr', '')!r}\n  want {want.get('stderr', '')!r}")
    values, wanted = got.get("values", []), want.get("values", [])
    if len(values) != len(wanted):
        misses.append(f"{len(values)} observations, want {len(wanted)}")
    for i, (a, b) in enumerate(zip(values, wanted, strict=False)):
        if not _same(a, b, rtol):
            misses.append(f"observation {i}: got {a}\n               want {b}")
    if not _same(_error(got), _error(want), rtol):
        misses.append(f"error {got.get('error')}\n   want {want.get('error')}")
    return misses + _compare_warnings(got, want)


def _error(record):
    return {"error": record["error"]} if "error" in record else None


def _compare_warnings(got, want):
    # Keras' warning of gradients that do not exist is followed, in minitape, by the reason on lines of its own.
    warned = [
        [kind, text.partition("\n")[0] if text.startswith("Gradients do not exist") else text]
        for kind, text in got.get("warnings", [])
    ]
    logged = got.get("logs", [])
    misses = [f"no warning {w}; got {warned}" for w in want.get("warnings", []) if w not in warned]
    texts = logged + [text for _, text in warned]
    misses += [f"nothing logged {text!r}; got {texts}" for text in want.get("logs", []) if text not in texts]
    known = want.get("logs", []) + [text for _, text in want.get("warnings", [])]
    return misses + [f"unexpected warning {w}" for w in warned if w[1] not in known]


def _same_text(got, want, tol):
    got, want = normalise(got), normalise(want)
    if got == want:
        return True
    if tol is None:
        return False
    blank = [re.sub(r"\s+", "", NUMBER.sub("#", text)) for text in (got, want)]
    if blank[0] != blank[1]:
        return False
    return all(
        abs(float(a) - float(b)) <= tol * max(1.0, abs(float(b)))
        for a, b in zip(NUMBER.findall(got), NUMBER.findall(want), strict=True)
    )


def _same(got, want, rtol=None):
    if isinstance(want, dict) and "error" in want:
        if not (isinstance(got, dict) and "error" in got):
            return False
        return got["error"][0] == want["error"][0]  # the class; the words are minitape's own
    if isinstance(want, dict):
        if not isinstance(got, dict) or got.keys() != want.keys():
            return False
        inner = rtol or TOLERANCES.get(want.get("dtype"))
        return all(_same(got[key], want[key], inner) for key in want)
    if isinstance(want, list):
        return (
            isinstance(got, list)
            and len(got) == len(want)
            and all(_same(a, b, rtol) for a, b in zip(got, want, strict=True))
        )
    if isinstance(want, float) and isinstance(got, float):
        rtol = rtol or 2e-5
        return abs(got - want) <= rtol * abs(want) + rtol / 20
    return type(got) is type(want) and got == want
