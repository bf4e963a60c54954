"""Values that travel through several modules, or through the cells of a notebook, before they come back as
constants.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

import minitape as tf

HELPERS = """\
import numpy as np
def to_numpy(t):
    return t.numpy()
def standardised(t):
    a = np.asarray(t)
    return (a - a.mean()) / a.std()
"""
LOSSES = """\
from {helpers} import standardised
def total(tf, v):
    return tf.reduce_mean(standardised(v))
"""
STORE = "kept = {}\n"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Modules of a user's project: helpers, losses that import them, a store."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names = [f"explained_{tmp_path.name}_{kind}".replace("-", "_") for kind in ("helpers", "losses", "store")]
    for name, text in zip(names, (HELPERS, LOSSES.replace("{helpers}", names[0]), STORE), strict=True):
        (tmp_path / f"{name}.py").write_text(text)
    yield [importlib.import_module(name) for name in names]
    for name in names:
        sys.modules.pop(name, None)


def test_a_helper_of_another_file_takes_the_value_out(modules: Any) -> None:
    helpers = modules[0]
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        a = helpers.to_numpy(x * 2.0)
        y = tf.reduce_sum(a)
    why = tape.explain(y, x)
    assert (why.cause, why.filename, why.line) == ("left_through_numpy", helpers.__file__, 3)


def test_of_several_values_under_one_name_the_last_is_meant(modules: Any) -> None:
    helpers = modules[0]
    x = tf.Variable([1.0, 2.0])
    a = helpers.to_numpy(x * 2.0)
    with tf.GradientTape() as tape:
        a = helpers.standardised(x * 2.0)
        y = tf.reduce_sum(a**2)
    assert tape.explain(y, x).line == 5


def test_through_a_module_in_between(modules: Any) -> None:
    helpers, losses, _ = modules
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = losses.total(tf, v)
    why = tape.explain(loss, v)
    assert (why.cause, why.filename, why.line) == ("left_through_numpy", helpers.__file__, 5)


def test_a_library_is_not_to_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip installs is no file of the user's: the line is that of the call. What uses minitape is the user's."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    (folder / "explained_library.py").write_text(HELPERS)
    (folder / "explained_program.py").write_text("import minitape as tf\n" + HELPERS)
    x = tf.Variable([1.0, 2.0])
    found = []
    for name in ("explained_library", "explained_program"):
        module = importlib.import_module(name)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(module.to_numpy(x * 2.0))
        found.append(tape.explain(y, x))
        del sys.modules[name]
    assert [why.cause for why in found] == ["left_through_numpy"] * 2
    assert found[0].filename == __file__ and "module.to_numpy" in found[0].code
    assert found[1].filename == str(folder / "explained_program.py") and found[1].code == "return t.numpy()"


def test_a_package_is_the_users_once_a_module_of_it_imports_minitape(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "site-packages" / "explained_package"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder.parent))
    (folder / "__init__.py").touch()
    (folder / "helpers.py").write_text("def double(x):\n    return x + x\n")
    (folder / "program.py").write_text("import minitape as tf\n" + HELPERS)
    x = tf.Variable([1.0, 2.0])
    importlib.import_module("explained_package.helpers").double(x)
    with tf.GradientTape() as tape:
        importlib.import_module("explained_package.helpers").double(x)
        y = tf.reduce_sum(importlib.import_module("explained_package.program").to_numpy(x * 2.0))
    assert tape.explain(y, x).filename == str(folder / "program.py")
    for name in [name for name in sys.modules if name.startswith("explained_package")]:
        del sys.modules[name]


@pytest.fixture
def shell() -> Any:
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactiveshell.InteractiveShell.instance()
    shell.reset()
    yield shell
    interactiveshell.InteractiveShell.clear_instance()


def explain_in_last_cell(shell: Any, *cells: str) -> Any:
    """Runs cells, and returns what the last one explains."""
    for text in ("import minitape as tf\nimport numpy as np", *cells, "answer = tape.explain(y, w)"):
        assert shell.run_cell(text, store_history=True).success
    return shell.user_ns["answer"]


def test_a_value_that_left_in_another_cell(shell: Any) -> None:
    why = explain_in_last_cell(
        shell,
        "w = tf.Variable([1.0, 2.0])\nh = (w * 2.0).numpy()",
        "scaled = h / 3.0",
        "with tf.GradientTape() as tape:\n    y = tf.reduce_sum(tf.constant(scaled) * 2.0)",
    )
    assert (why.cause, why.line) == ("left_through_numpy", 2) and "cell [2], line 2" in why.message


def test_a_function_of_another_cell(shell: Any) -> None:
    why = explain_in_last_cell(
        shell,
        "w = tf.Variable([1.0, 2.0])\ndef feature(t):\n    return np.mean(t)",
        "with tf.GradientTape() as tape:\n    y = tf.convert_to_tensor(feature(w * 1.0)) ** 2",
    )
    assert (why.cause, why.code) == ("left_through_numpy", "return np.mean(t)")
    assert "`tf.reduce_mean(t)` instead of `np.mean(t)`" in why.fix


def test_a_name_that_another_cell_binds_anew(shell: Any) -> None:
    used = ("w = tf.Variable(2.0)", "with tf.GradientTape() as tape:\n    y = w ** 2")
    why = explain_in_last_cell(shell, *used, "w = tf.Variable(3.0)")
    assert (why.cause, why.code) == ("rebound", "w = tf.Variable(3.0)")


def test_a_constant_in_a_program_of_its_own_is_not_bound_anew(shell: Any) -> None:
    """A variable of another cell had this name; no tape watches it any more."""
    used = ("w = tf.Variable(2.0)", "with tf.GradientTape() as tape:\n    y = w ** 2")
    why = explain_in_last_cell(shell, *used, "w = tf.constant(3.0)", used[1])
    assert (why.cause, why.code) == ("not_watched", "y = w ** 2")


def test_a_cell_replaces_a_variable_by_a_tensor(shell: Any) -> None:
    used = "with tf.GradientTape() as tape:\n    y = w ** 2"
    why = explain_in_last_cell(shell, "w = tf.Variable(2.0)", "w = w - 0.1 * w", used)
    assert (why.cause, why.code) == ("rebound", "w = w - 0.1 * w") and "w.assign_sub(0.1 * w)" in why.fix


def test_a_cell_that_makes_the_model_ran_again(shell: Any) -> None:
    net = "class Net:\n    def __init__(self):\n        self.w = tf.Variable([[1.0], [2.0]])"
    made, used = "net = Net()", "with tf.GradientTape() as tape:\n    y = tf.ones([1, 2]) @ net.w"
    why = explain_in_last_cell(shell, net, made, used, made, "w = net.w")
    assert (why.cause, why.code) == ("rebound", made) and why.message.startswith("net was created again (cell [5]")
