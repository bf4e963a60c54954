"""Define the programs to show, the pages that show them, and the texts that the pages should contain."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minitape as tf
from tests.conftest import yield_fresh_page
from tests.jupyterlab_page import wait_for_frame


def open_scope(name: str) -> Any:
    """Return a context manager in which rows belong to a scope with the given name, like the rows of a layer.

    Args:
        name: The name of the scope.
    """
    module = tf.Module()
    module._open_name_scope = (*module._open_name_scope[:-1], name)
    return module.name_scope


def square() -> tuple[Any, Any, Any]:
    """Return (tape, target, source) of the square of a watched constant."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape, y, x


def accumulation() -> tuple[Any, Any, Any]:
    """Return a program in which a value is used several times, so that shares add up."""
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as tape:
        b = a * a
        c = b + b
        d = tf.sin(c) * b
    return tape, d, a


def broadcasting() -> tuple[Any, Any, Any]:
    """Return a program in which the shares of a vector and a scalar are summed over broadcast axes."""
    w, b = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="w"), tf.Variable([0.5, -0.5, 0.25], name="b")
    s = tf.Variable(2.0, name="s")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(w * s + b))
    return tape, y, [w, b, s]


def gathering() -> tuple[Any, Any, Any]:
    """Return a program that reads one row of a table twice."""
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="table")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.square(tf.gather(table, [0, 2, 2])))
    return tape, y, table


def states() -> tuple[Any, Any, Any]:
    """Return a program that assigns a variable, which then has two states."""
    v = tf.Variable(1.0, name="v")
    with tf.GradientTape() as tape:
        y = v * 3.0
        v.assign_add(1.0)
        z = y * v
    return tape, z, v


def nested() -> tuple[Any, Any, Any]:
    """Return a program that differentiates a gradient with an outer tape."""
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x * x
        g = inner.gradient(y, x)
    return outer, g, x


def layers() -> tuple[Any, Any, Any]:
    """Return a program with a network of three layers."""
    weights = [tf.Variable(np.full((4, 4), 0.1 * (k + 1), np.float32), name=f"w{k}") for k in range(3)]
    x = tf.constant(np.linspace(-1, 1, 8).reshape(2, 4).astype(np.float32))
    with tf.GradientTape() as tape:
        for w in weights:
            x = tf.tanh(tf.matmul(x, w))
        y = tf.reduce_mean(x)
    return tape, y, weights


def cut() -> tuple[Any, Any, Any]:
    """Return a program in which one factor blocks the gradient."""
    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x) * x
    return tape, y, x


def constants_first() -> tuple[Any, Any, Any]:
    """Return a program whose constants come first.

    Constants receive no adjoint, so the edges of a step do not belong to the first inputs.
    """
    v, c = tf.Variable([1.0, 2.0, 4.0], name="v"), tf.constant([3.0, 5.0, 7.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(c / v - 2.0 * v)
    return tape, y, v


def custom() -> tuple[Any, Any, Any]:
    """Return a program whose custom gradient differs from the derivative, at a row whose input is used again."""

    @tf.custom_gradient
    def clipped(a: Any) -> Any:
        return a * 3.0, lambda g: tf.clip_by_value(g, -1.0, 1.0)

    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as tape:
        h = x * x
        y = clipped(h) * 5.0 + h
    return tape, y, x


def custom_pair() -> tuple[Any, Any, Any]:
    """Return a program whose custom gradient has two results.

    The target depends on only one result. The results are arrays, and the function also reads a variable.
    """
    w = tf.Variable(3.0, name="w")

    @tf.custom_gradient
    def pair(a: Any, b: Any) -> Any:
        def grad(da: Any, db: Any, variables: Any = None) -> Any:
            return [da * b + db, da * a - db], [tf.reduce_sum(da * a) + tf.reduce_sum(db)]

        return (a * b * w, a - b), grad

    x = tf.Variable([2.0, -1.0], name="x")
    with tf.GradientTape() as tape:
        _, q = pair(x, x * 0.5)
        y = tf.reduce_sum(q * q) + w
    return tape, y, [x, w]


def python_function() -> tuple[Any, Any, Any]:
    """Return a program with a `py_function` that has two inputs and two results."""
    x, w = tf.Variable(2.0, name="x"), tf.Variable(3.0, name="w")
    with tf.GradientTape() as tape:
        z, u = tf.py_function(lambda a, b: (a * a + tf.sin(b), a * b), [x, w], [tf.float32, tf.float32])
        y = z * x + z * u
    return tape, y, [x, w]


def custom_nested() -> tuple[Any, Any, Any]:
    """Return a program that differentiates through a custom gradient, whose operations the outer tape records."""

    @tf.custom_gradient
    def cube(a: Any) -> Any:
        return a * a * a, lambda g: g * 3.0 * a * a

    x = tf.Variable(2.0, name="x")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = cube(x) + x
        g = inner.gradient(y, x)
    return outer, g, x


def splitting() -> tuple[Any, Any, Any]:
    """Return a program that splits an array into three parts and uses two of them."""
    m = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="m")
    with tf.GradientTape() as tape:
        a, _, c = tf.split(m, 3)
        y = tf.reduce_sum(a * c + c)
    return tape, y, m


def cases() -> tuple[Any, Any, Any]:
    """Return a program with ``where`` and ``maximum``, the same tensor in both branches, and complex numbers."""
    x, z = tf.Variable(1.5, name="x"), tf.Variable(1.0 + 2.0j, name="z", dtype=tf.complex64)
    with tf.GradientTape() as tape:
        y = tf.where(x > 1.0, x, x) * tf.maximum(x, 2.0) + tf.math.real(z * z)
    return tape, y, [x, z]


PROGRAMS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {f.__name__: f for f in (
    square, accumulation, broadcasting, gathering, states, nested, layers, cut, constants_first, custom, custom_pair,
    python_function, custom_nested, splitting, cases,
)}  # fmt: skip


def build_chain_snapshot(n: int) -> dict[str, Any]:
    """Return the snapshot of a loop and its sweep.

    Args:
        n: The number of iterations.
    """
    x, w = tf.Variable(1.0, name="x"), tf.Variable(0.999, name="w")
    with tf.GradientTape() as tape:
        y = x * w
        for _ in range(n):
            y = y * w + x
    return tf.snapshot(tape, y, w)


def round_text(text: str, digits: int = 4) -> str:
    """Round a number as the picture does: to four digits, leaving integers and short numbers unchanged.

    Args:
        text: The number as text.
        digits: The number of significant digits.
    """
    if not any(mark in text for mark in ".e") or (len(text) <= 6 and digits == 4):
        return text
    number = float(text)
    if number and not 1e-4 <= abs(number) < 1e6:
        mantissa, power = f"{number:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    whole_digits = len(str(int(abs(number)))) if abs(number) >= 1 else 0
    short_text = repr(float(f"{number:.{max(digits, whole_digits)}g}"))
    # "2.0" is an exact value; "2" is a rounded value.
    return short_text if number.is_integer() else short_text.removesuffix(".0")


def shorten_array(data: Any, digits: int) -> str:
    """Format an array on one line.

    Args:
        data: A number, a text, or nested lists of numbers and texts.
        digits: The number of digits to show of each number.
    """
    if isinstance(data, list):
        return f"[{' '.join(shorten_array(element, digits) for element in data)}]"
    if isinstance(data, str):
        return data
    text = round_text(repr(data), digits)
    is_whole_float = isinstance(data, float) and data == int(data)
    return text.removesuffix("0") if is_whole_float else text


def format_short_value(value: dict[str, Any], max_length: int) -> str | None:
    """Format a value on one line, with as many digits as fit.

    Args:
        value: The value in a snapshot: a number, or an array with at most eight elements.
        max_length: The maximum length of the text.

    Returns:
        The text, or None if the value is too long.
    """
    if not isinstance(value.get("data"), list):
        candidates = (round_text(value["text"], digits) for digits in (4, 3, 2, 1))
        return next((text for text in candidates if len(text) <= max_length), None)
    if np.size(value["data"]) > 8:
        return None
    texts = ((digits, shorten_array(value["data"], digits)) for digits in (4, 3, 2))
    digits, text = next(((digits, text) for digits, text in texts if len(text) <= max_length), (0, None))
    # With two digits, 0.9975 would look as if it were whole.
    is_misread = digits == 2 and "." in value["text"] and re.search(r"[\[ ]-?\d{1,2}[\] ]", str(text))
    return None if is_misread else text


def format_uniform_array(value: dict[str, Any], row: dict[str, Any], max_length: int) -> str | None:
    """Format an array whose elements are all equal as a shape and a number.

    Args:
        value: The value in a snapshot.
        row: The row in the snapshot.
        max_length: The maximum length of the text.

    Returns:
        The text, or None if the elements differ or the text does not fit.
    """
    stats, data = value.get("stats"), np.ravel(value.get("data", []))
    distinct = {stats["min"], stats["max"]} if stats else set(data.tolist())
    if len(distinct) != 1 or (data.size < 2 and not stats) or isinstance((number := distinct.pop()), (bool, str)):
        return None
    text = f"{tuple(row['shape'])} each {round_text(repr(number)).removesuffix('.0')}"
    return text if len(text) <= max_length else None


def format_brief(value: dict[str, Any] | None, row: dict[str, Any], max_length: int = 18) -> str:
    """Format a value in the same way as a node.

    Args:
        value: The value in a snapshot, or None.
        row: The row in the snapshot.
        max_length: The maximum length of the text.

    Returns:
        The value if it fits; otherwise the shape, followed by the number if all elements are equal.
    """
    if value is None:
        return ""
    return (
        format_short_value(value, max_length)
        or format_uniform_array(value, row, max_length)
        or (str(tuple(row["shape"])) if row["shape"] else value["text"])
    )


def format_adjoint_size(value: dict[str, Any], max_length: int = 18) -> str:
    """Format an adjoint in the same way as an edge.

    Args:
        value: The adjoint in a snapshot.
        max_length: The maximum length of the text.

    Returns:
        The number or the small array itself. For larger arrays, the number that all elements equal, or the largest
        absolute value.
    """
    text = format_short_value(value, max_length)
    if text is not None or not isinstance(value.get("data"), list):
        return text or value["text"]
    flat = np.ravel(value["data"]).astype(float)
    if not np.isfinite(flat).all():
        return "NaN" if np.isnan(flat).any() else "inf"
    uniform_text = f"each {round_text(repr(float(flat[0]))).removesuffix('.0')}"
    largest = float(f"{np.abs(flat).max():.3g}")
    if len(set(flat)) == 1 and len(uniform_text) <= max_length:
        return uniform_text
    return f"±{round_text(repr(largest), 3).removesuffix('.0')}"


def read_position(page: Any) -> str:
    """Return the position in the sweep from the page's progress bar."""
    wait_for_frame(page)
    return page.locator(".mt-count").inner_text()


def type_keys(page: Any, *keys: str) -> None:
    """Press keys one after the other, and wait until their effect has been drawn.

    A browser fills its screen some time after the key that presents: boxes that are read before would be the page's.
    """
    for key in keys:
        page.keyboard.press(key)
    if "v" in keys:
        page.wait_for_function("!!document.querySelector('.mt-present') === !!document.fullscreenElement")
        wait_for_frame(page)
    wait_for_frame(page)


@pytest.fixture(params=list(PROGRAMS))
def program(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    """Return (tape, target, sources) for one program of the corpus."""
    return PROGRAMS[request.param]()


# The page keeps its compiled front end: each later snapshot of a file's tests is mounted in a new body.
MOUNTING = 'mount(document.getElementById("view"), {'
KEPT_MOUNTING = """
globalThis.keptMount = (...all) => (globalThis.keptView = mount(...all));
globalThis.keptText = text;
globalThis.keptTitle = document.title;
"""
MOUNT_AGAIN = """snapshot => {
  if (!globalThis.keptMount || !globalThis.keptView) return false;
  globalThis.keptView.destroy();
  for (const part of [document.documentElement, document.body])
    for (const name of part.getAttributeNames()) if (name !== "lang") part.removeAttribute(name);
  for (const part of [...document.body.children]) if (part.tagName !== "SCRIPT") part.remove();
  document.body.insertAdjacentHTML("afterbegin", '<main id="view" data-fill></main>');
  document.getElementById("data").textContent = JSON.stringify(snapshot);
  document.title = globalThis.keptTitle;
  window.scrollTo(0, 0);
  globalThis.keptMount(document.getElementById("view"), snapshot, async () => globalThis.keptText);
  return true;
}"""


@pytest.fixture(scope="module")
def _page_of_file(_without_server: Any) -> Iterator[Any]:
    """Yield a page that the tests of a file share if they only show snapshots."""
    context, _ = _without_server
    page = context.new_page()
    yield page
    page.close()


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Yield the page of the file to a test that shows snapshots, and a fresh page to other tests."""
    if (
        "show" not in request.fixturenames
        or "start_lab" in request.fixturenames
        or getattr(request.module, "NEEDS_FRESH_PAGES", False)
    ):
        yield from yield_fresh_page(request)
        return
    page = request.getfixturevalue("_page_of_file")
    page.evaluate("async () => { if (document.fullscreenElement) await document.exitFullscreen() }")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.emulate_media(reduced_motion="reduce", color_scheme="light", forced_colors="none", media="screen")
    yield page
    _, blocked_urls = request.getfixturevalue("_without_server")
    escaped_urls, blocked_urls[:] = blocked_urls[:], []
    assert not escaped_urls, f"requests left the machine: {escaped_urls}"


@pytest.fixture
def show(page: Any) -> Iterator[Callable[[dict[str, Any]], Any]]:
    """Yield a function that shows a snapshot in a page. Errors in the page fail the test."""
    from minitape_widgets.saved_page import build_html_page as page_text

    errors: list[str] = []

    def note_error(error: Any) -> None:
        errors.append(str(error))

    def note_message(message: Any) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("pageerror", note_error)
    page.on("console", note_message)

    def mount(snapshot: dict[str, Any]) -> None:
        text = page_text(snapshot)
        plain = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
        content = {} if plain is None else json.loads(plain[1])
        is_standard = plain is not None and "both" not in content and not content.get("texts")
        if is_standard and page.evaluate(MOUNT_AGAIN, content):
            return
        page.evaluate("globalThis.keptMount = null")
        if is_standard:
            text = text.replace(
                f"for (const one of given.both ?? [given]) {MOUNTING}",
                f"{KEPT_MOUNTING}for (const one of [given]) keptMount{MOUNTING.removeprefix('mount')}",
            )
        page.set_content(text)

    def open_page(snapshot: dict[str, Any], fold: str = "auto") -> Any:
        mount(snapshot)
        page.wait_for_selector(".mt-node" if snapshot["rows"] else ".mt-result")
        if fold != "auto":
            page.get_by_label("Folding").select_option(fold)
        page.locator(".mt-view").focus()
        return page

    yield open_page
    page.remove_listener("pageerror", note_error)
    page.remove_listener("console", note_message)
    assert not errors, errors
