"""Find the globals and closure variables that a compiled function read when it was traced."""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dis import get_instructions
from functools import lru_cache, partial
from itertools import pairwise
from types import CodeType
from typing import Any

from ..engine.record.user_frames import is_minitape_or_library_file
from ..engine.types import TextPair
from ..explain.explanation import Explanation, explain_cause
from ..explain.reasons.program_text import list_statements_of_code
from ..recording.sites import Site, read_line_at_site

# The values that functions read from outside their own scope, keyed by the function and the name. The types are Any,
# because each function and each value may be any object.
OutsideKey = tuple[Any, str]
OutsideData = dict[OutsideKey, Any]


def unwrap_function(function: Any) -> Any:
    """Return the program's function inside any partials and transforms that wrap it.

    Args:
        function: A function, method, partial, transform, or an object with a ``__call__`` method.

    >>> def f(x): return x
    >>> unwrap_function(partial(f, 1.0)) is f
    True
    """
    while True:
        if isinstance(function, partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__code__"):
            outside_values = (
                read_outside_values(function).values()
                if is_minitape_or_library_file(function.__code__.co_filename)
                else ()
            )
            user_functions = [
                candidate
                for value in outside_values
                if _is_user_function(candidate := getattr(value, "__wrapped__", value))
            ]
            if not user_functions:
                return function
            function = user_functions[0]
        else:
            call_method = vars(type(function)).get("__call__")
            if not inspect.isfunction(call_method):
                return function
            function = call_method


def _is_user_function(function: Any) -> bool:
    """Return whether a function belongs to the program."""
    return inspect.isfunction(function) and not is_minitape_or_library_file(function.__code__.co_filename)


def read_outside_values(function: Any) -> dict:
    """Return the globals and closure variables that a function and its inner functions read, keyed by name.

    Args:
        function: The function. If the object is not a function, the result is empty.
    """
    if not inspect.isfunction(function):
        return {}
    names = _collect_global_names(function.__code__)
    values = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # The enclosing function has not set this variable yet.
            continue
    return values


@lru_cache(maxsize=256)
def _collect_global_names(code: CodeType) -> frozenset[str]:
    """Return the names of the globals that a function's code and its inner functions read."""
    names = {step.argval for step in get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = (_collect_global_names(constant) for constant in code.co_consts if inspect.iscode(constant))
    return frozenset(names.union(*inner))


def iter_function_and_callees(function: Any) -> Iterator:
    """Yield one of the program's functions, and the functions that it calls by name, directly or indirectly."""
    pending = [function]
    visited = set()
    while pending:
        current = unwrap_function(pending.pop(0))
        if _is_user_function(current) and current not in visited:
            visited.add(current)
            yield current
            pending += [value for value in read_outside_values(current).values() if callable(value)]


def read_outside_data_with_callees(function: Any, *args: Any) -> OutsideData:
    """Return the outside values that a function and its callees read, except functions and modules.

    Args:
        function: The function.
        args: Its arguments. Attributes of the first argument are included if this argument belongs to the program,
            because it may be ``self``. A bound method brings its own ``self``.

    Returns:
        The values. Each key consists of the function that reads the value, and the value's name.
    """
    data = OutsideData()
    code = getattr(unwrap_function(function), "__code__", None)
    args = (function.__self__,) if inspect.ismethod(function) else args
    objects = dict(zip(code.co_varnames[:1] if code else (), args, strict=False))
    for callee in iter_function_and_callees(function):
        values = read_outside_values(callee)
        data |= {(callee, name): value for name, value in values.items() if not inspect.ismodule(value)}
        data |= read_attributes_used_by_function(callee, objects | values)
        objects = {}
    return {key: value for key, value in data.items() if not callable(value)}


def read_attributes_used_by_function(function: Any, objects: Mapping[str, Any], kinds: Any = object) -> OutsideData:
    """Return the attributes that a function, and the methods that it calls, read from the program's objects.

    Args:
        function: The function. For a library function, the result is empty.
        objects: The objects, keyed by the names that the function uses for them.
        kinds: The classes of the attributes to return.

    Returns:
        The values. Each key consists of the function that reads the value, and the value's name, such as "self.rate".
    """
    data = OutsideData()
    pending = [(function, objects)]
    visited = set()
    while pending:
        reader, owners = pending.pop()
        if reader in visited or not _is_user_function(reader):
            continue
        visited.add(reader)
        for owner_name, name in _collect_attribute_reads(reader.__code__):
            owner = owners.get(owner_name)
            file = getattr(sys.modules.get(type(owner).__module__), "__file__", None) or __file__
            attributes = {} if is_minitape_or_library_file(file) else getattr(owner, "__dict__", {})
            if isinstance(attributes.get(name), kinds) and name in attributes:
                data[reader, f"{owner_name}.{name}"] = attributes[name]
            elif attributes:
                pending.append((inspect.getattr_static(type(owner), name, None), {"self": owner}))
    return data


@lru_cache(maxsize=256)
def _collect_attribute_reads(code: CodeType) -> frozenset[TextPair]:
    """Return an (object name, attribute name) pair for each attribute that a function and its inner functions read."""
    reads = {
        (step.argval, following.argval)
        for step, following in pairwise(get_instructions(code))
        if step.opname.startswith("LOAD_") and following.opname in ("LOAD_ATTR", "LOAD_METHOD")
    }
    inner = (_collect_attribute_reads(constant) for constant in code.co_consts if inspect.iscode(constant))
    return frozenset(reads.union(*inner))


def explain_stale_value(framework: str, function: Any, name: str, call_number: int, variant: str = "") -> Explanation:
    """Explain that a compiled function uses a value that the program has since replaced.

    Args:
        framework: The name of the framework.
        function: The function that reads the value.
        name: The name of the value.
        call_number: The number of the first call in which the compiled function and its Python code disagreed.
        variant: The variant of the sentences to use.
    """
    site = find_first_reading_or_definition_site(function, name)
    return explain_cause(framework, "stale_value", site, variant, {"name": name, "n": call_number})


def find_first_reading_or_definition_site(function: Any, name: str) -> Site:
    """Return the first line on which a function reads a name, or the function's first line if it never reads the name.

    Args:
        function: The function.
        name: The name.
    """
    code = function.__code__
    for statement in list_statements_of_code(code):
        if re.search(rf"(?<![.\w]){re.escape(name)}\b", read_line_at_site(statement.site)):
            return statement.site
    return (code.co_filename, code.co_firstlineno)
