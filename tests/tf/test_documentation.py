"""Each public function and class is documented.

pytest runs the examples of functions in their modules. The examples of functions that are created at import time are
tested here.
"""

import doctest
import importlib
import inspect

import pytest

from minitape.common.lazy_names import load_minitape_object
from minitape.tf import elementwise, nn, reductions
from minitape.tf.api import NAMES, map_names_to_defining_modules

OWN_NAMES = {"draw", "snapshot"}
PUBLIC_FUNCTIONS = {
    f"{space}.{name}".lstrip("."): load_minitape_object(home, original_name)
    for space in NAMES
    for name, (home, original_name) in map_names_to_defining_modules(space).items()
    if original_name and inspect.isfunction(load_minitape_object(home, original_name))
}
MADE = {
    f"{module.__name__}.{name}": value
    for module in (elementwise, nn, reductions)
    for name, value in vars(module).items()
    if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
}


@pytest.mark.parametrize("name", MADE)
def test_an_example_is_true(name):
    found = doctest.DocTestParser().get_doctest(MADE[name].__doc__, {}, name, None, None)
    assert found.examples
    assert doctest.DocTestRunner(verbose=False).run(found).failed == 0


@pytest.mark.parametrize("space", NAMES)
def test_each_public_name_says_what_it_is(space):
    for name, (home, theirs) in map_names_to_defining_modules(space).items():
        found = load_minitape_object(home, theirs)
        if callable(found):
            text = inspect.getdoc(found) or ""
            assert len(text.partition("\n")[0]) > 15, name
            assert not home.startswith("tf.") or text.split()[0] not in ("What", "Returns", "This"), name
            assert found.__name__ != "function" or name == "function"


@pytest.mark.parametrize("name", PUBLIC_FUNCTIONS)
def test_a_public_function_documents_arguments_result_example_and_origin(name):
    function = PUBLIC_FUNCTIONS[name]
    text = inspect.getdoc(function)
    assert "Args:" in text or not inspect.signature(function).parameters
    assert "Returns:" in text or "Yields:" in text or inspect.signature(function).return_annotation in ("None", None)
    assert ">>>" in text
    assert "https://www.tensorflow.org/api_docs/python/tf/" in text or name in OWN_NAMES


def test_a_namespace_says_what_it_is():
    assert importlib.import_module("minitape.math").__doc__ == "``tf.math``"
