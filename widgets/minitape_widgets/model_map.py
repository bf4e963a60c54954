"""Draw a map of a recorded model: the tree of its modules, the size of each gradient, and what is wrong with it.

The map is one HTML page. It holds numbers about parameters and no arrays, so it stays small for a large model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from minitape.bridges.checkup import FrameworkRecording
from minitape.bridges.model_page import ModelPage, is_problem
from minitape.common.atomic_write import write_file
from minitape.common.script_json import format_script_json
from minitape.picture.picture_texts import build_browser_texts, translate
from minitape.recording.recorded_rows import BackwardPass, RecordedRow
from minitape.recording.value_summary import to_float_array

from .front_end import BUNDLE
from .script_page import build_script_page, format_bundle

MAP_BUNDLE = BUNDLE.with_name("map.js")
MAX_STEPS = 100  # For a longer training, the map shows evenly spaced steps.
MAX_ROWS = 4_000  # The rows of a longer step are left out, so that the page stays below a megabyte.
DIGITS = 3  # The number of digits of a norm.

MOUNT_SCRIPT = """const { mountMap } = await import(url);
mountMap(document.getElementById("map"), JSON.parse(document.getElementById("data").textContent));"""


class ModelMap:
    """A map of a recorded model. ``map_model`` creates it.

    Attributes:
        parameters: One dictionary for each parameter: its path in the model, its shape, its number of elements, and for
            each step the norm of its gradient, its update, and the number of its explanation.
        explanations: The explanations of all problems, as dictionaries.
        step_count: The number of steps on the map.
    """

    def __init__(self, recordings: Sequence[FrameworkRecording], model: Any) -> None:
        """Read the recordings, as ``map_model`` describes it."""
        self.explanations: list[dict[str, Any]] = []
        parameters: dict[str, dict[str, Any]] = {}
        self.step_count = 0
        for recording in recordings:
            sources = recording._find_named_sources(model)
            if sources is None:
                raise TypeError(
                    translate(
                        "The recording contains no parameters of this model. Leave the model out to map all parameters "
                        "that the block trained."
                    )
                )
            page = recording.explain() if model is None else recording.explain(model)
            sweeps = list_steps(recording)
            for name, source in sources.items():
                rows = recording.list_rows(source)
                shape = recording.rows[rows[-1]].shape if rows else getattr(source, "shape", ())
                parameter = parameters.setdefault(name, create_parameter(name, shape, self.step_count))
                self._add_steps(parameter, recording, source, sweeps, page)
            self.step_count += max(1, len(sweeps))
            for parameter in parameters.values():  # A later recording may lack a parameter.
                fill_steps(parameter, self.step_count)
        self.parameters = [*parameters.values()]
        self._root = find_root_path(self.parameters, model)
        self._classes, layer_paths = describe_modules(model)
        self._title = type(model).__name__ if model is not None else ""
        self._modules = list_module_rows(recordings[-1], layer_paths)
        keep_some_steps(self.parameters, self.step_count)
        self.step_count = min(self.step_count, MAX_STEPS)

    def _add_steps(
        self,
        parameter: dict[str, Any],
        recording: FrameworkRecording,
        source: Any,
        sweeps: Sequence[BackwardPass],
        page: ModelPage,
    ) -> None:
        """Add the facts about a parameter from one recording.

        Args:
            parameter: The parameter's dictionary.
            recording: The recording.
            source: The parameter itself, as the recording represents it.
            sweeps: The backward passes of the recording, one for each step.
            page: The recording's explanations.
        """
        explanation = page.get(parameter["name"])
        cause = self._number_explanation(explanation)
        updates = measure_updates(recording, source, len(sweeps))
        for sweep, update in zip(sweeps, updates, strict=True):
            rows = [row for row in recording.list_rows(source) if row in sweep.adjoints]
            parameter["norms"].append(measure_norm([sweep.adjoints[row] for row in rows], parameter["size"]))
            parameter["updates"].append(update)
            parameter["causes"].append(cause)
        if not sweeps:  # The steps were compiled, so only the explanation has numbers.
            numbers = getattr(explanation, "numbers", None)
            parameter["norms"].append(to_plain_number(numbers and numbers.norm))
            parameter["updates"].append(to_plain_number(numbers and numbers.update))
            parameter["causes"].append(cause)

    def _number_explanation(self, explanation: Any) -> int:
        """Return the number of an explanation in the list of problems, or -1 if nothing is wrong."""
        if explanation is None or not is_problem(explanation):
            return -1
        place = f"{Path(explanation.filename).name}:{explanation.line}" if explanation.filename else ""
        fields = {
            "name": explanation.name,
            "kind": explanation.kind,
            "cause": explanation.cause,
            "message": explanation.message,
            "fix": explanation.fix,
            "place": place,
            "code": explanation.code.strip(),
        }
        # The sentence names its parameter, so parameters that share a cause and a line have different sentences.
        key = [fields[name] for name in ("cause", "place")]
        for number, known in enumerate(self.explanations):
            if [known[name] for name in ("cause", "place")] == key:
                return number
        self.explanations.append(fields)
        return len(self.explanations) - 1

    def save(self, path: Any) -> None:
        """Write the map as one HTML file that needs no other file.

        Args:
            path: The path, which ends with ``.html``.

        Raises:
            ValueError: If the path has a different ending.
        """
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(
                translate("A map cannot be saved as {kind}. Use a name that ends in .html.", kind=repr(path.suffix))
            )
        write_file(path, self.build_page())

    def build_page(self) -> str:
        """Return the HTML text of the page with the map."""
        data = {
            "title": self._title,
            "root": self._root,
            "steps": self.step_count,
            "parameters": self.parameters,
            "classes": self._classes,
            "explanations": self.explanations,
            "modules": self._modules,
        }
        return build_map_page(data)

    def __repr__(self) -> str:
        """Return the number of parameters and steps."""
        count = sum(parameter["size"] for parameter in self.parameters)
        return f"ModelMap({len(self.parameters)} parameters with {count:,} elements, {self.step_count} steps)"

    def _repr_html_(self) -> str:
        """Return a frame with the map."""
        title = escape(translate("map of a model"))
        return (
            f'<iframe srcdoc="{escape(self.build_page())}" sandbox="allow-scripts" title="{title}" '
            'style="width: 100%; height: 720px; border: 0"></iframe>'
        )


def map_model(recordings: Any, model: Any = None) -> ModelMap:
    """Return a map of a recorded model.

    Each backward pass is a step on the map. Record several steps with ``record(first=10)``, or give a list of
    recordings, one for each step.

    Args:
        recordings: The recording of a PyTorch, TensorFlow or JAX program, or a list of recordings.
        model: The model, in any form that ``recording.explain`` accepts. None means all parameters that the block
            trained.

    Returns:
        The map, which a notebook shows and whose ``save`` writes a page.

    Raises:
        TypeError: If the recordings or the model are something else.
    """
    listed = [*recordings] if isinstance(recordings, (list, tuple)) else [recordings]
    # The block of record(every=50) has several recordings, of which the latest counts.
    listed = [getattr(recording, "latest", recording) for recording in listed]
    if not listed or not all(isinstance(recording, FrameworkRecording) for recording in listed):
        raise TypeError(
            translate(
                "map_model() needs the recording of a PyTorch, TensorFlow or JAX program, or a list of such "
                "recordings: with record() as recording: ..."
            )
        )
    return ModelMap(listed, model)


def build_map_page(data: dict[str, Any]) -> str:
    """Return the HTML text of a page with a map.

    Args:
        data: What the map shows, as ``MapData`` in ``map/panel.ts`` describes it.
    """
    return build_script_page(
        title=translate("map of a model"),
        name="map",
        data=format_script_json({**data, **build_browser_texts()}),
        bundle=format_bundle(MAP_BUNDLE),
        script=MOUNT_SCRIPT,
    )


def list_steps(recording: FrameworkRecording) -> list[BackwardPass]:
    """Return the backward passes that are steps of a recording.

    Args:
        recording: The recording. If it calls ``backward()``, its calls of ``autograd.grad`` are not steps.
    """
    return [sweep for sweep in recording.sweeps if sweep.function_name != "grad"] or recording.sweeps


def create_parameter(name: str, shape: Iterable[int], step_count: int) -> dict[str, Any]:
    """Return the dictionary of a parameter that had no gradient in the earlier steps.

    Args:
        name: The parameter's name in the program, such as "net.layers[0].kernel".
        shape: The parameter's shape.
        step_count: The number of earlier steps.
    """
    shape = [int(length) for length in shape]
    parameter: dict[str, Any] = {
        "name": name,
        "path": split_path(name),
        "shape": shape,
        "size": math.prod(shape),
        "norms": [],
        "updates": [],
        "causes": [],
    }
    fill_steps(parameter, step_count)
    return parameter


def fill_steps(parameter: dict[str, Any], step_count: int) -> None:
    """Record that a parameter had no gradient in the steps for which it has no entry.

    Args:
        parameter: The parameter's dictionary.
        step_count: The number of earlier steps.
    """
    missing = step_count - len(parameter["norms"])
    for field, empty in (("norms", "none"), ("updates", None), ("causes", -1)):
        parameter[field] += [empty] * missing


def split_path(name: str) -> list[str]:
    """Return the parts of a parameter's name, outermost first.

    Args:
        name: The name, with attributes, indices and keys.

    >>> split_path("net.layers[0].kernel"), split_path("params['dense']['w']")
    (['net', 'layers', '0', 'kernel'], ['params', 'dense', 'w'])
    """
    parts = re.findall(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[([^\]]*)\]|([^.\[]+)", name)
    return ["".join(groups) for groups in parts]


def find_root_path(parameters: Sequence[dict[str, Any]], model: Any) -> list[str]:
    """Return the first parts of all parameters' paths, which name the model itself.

    Args:
        parameters: The parameters' dictionaries.
        model: The model. The paths of a PyTorch module's parameters begin below it.
    """
    if not parameters:
        return []
    first = parameters[0]
    for path, _ in getattr(model, "named_parameters", lambda: ())():
        if first["name"].endswith(f".{path}"):
            return split_path(first["name"].removesuffix(f".{path}"))
        break
    is_shared = all(
        parameter["path"][:1] == first["path"][:1] and len(parameter["path"]) > 1 for parameter in parameters
    )
    return first["path"][:1] if is_shared else []


def to_plain_number(number: Any) -> Any:
    """Return a number with a few digits, "nonfinite" for NaN and infinity, or None for an unknown number.

    Args:
        number: The number or None.
    """
    if number is None:
        return None
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else "nonfinite"


def measure_norm(adjoints: Sequence[Any], size: int) -> Any:
    """Return the norm of a gradient.

    The recording of a large model keeps only the statistics of its older gradients, which include the norm.

    Args:
        adjoints: The adjoints whose sum is the gradient.
        size: The number of the gradient's elements.

    Returns:
        The norm as a number, "nonfinite", "none" without an adjoint, or None if nothing is known about the gradient.
    """
    if not adjoints:
        return "none"
    arrays = [array for adjoint in adjoints if (array := to_float_array(adjoint)) is not None]
    if len(arrays) == len(adjoints):
        with np.errstate(all="ignore"):
            return to_plain_number(float(np.linalg.norm(np.sum(arrays, axis=0))))
    is_zero, is_finite = adjoints[-1].compute_zero_and_finite_flags()
    if not is_finite:
        return "nonfinite"
    if is_zero:
        return 0.0
    shown = adjoints[-1].shown() if hasattr(adjoints[-1], "shown") else None
    stats = (shown or {}).get("stats") or {}
    if "norm" in stats:
        return to_plain_number(stats["norm"])
    if "mean" in stats and "std" in stats:
        return to_plain_number(math.sqrt(size) * math.hypot(stats["mean"], stats["std"]))
    return None


def measure_updates(recording: FrameworkRecording, source: Any, count: int) -> list[Any]:
    """Return the norm of a parameter's update divided by the norm of the parameter, for each step.

    Args:
        recording: The recording.
        source: The parameter.
        count: The number of steps.

    Returns:
        The result of :func:`measure_change` for each step, or None for a step whose update is unknown.
    """
    updates: list[Any] = [None] * count
    if not count:
        return updates
    states = [to_float_array(recording.rows[row].value) for row in recording.list_rows(source)]
    if len(states) >= count:
        for step in range(count - 1):
            updates[step] = measure_change(states[step], states[step + 1])
    updates[-1] = measure_change(*recording.read_weights_around_last_step(source))
    return updates


def measure_change(before: np.ndarray | None, after: np.ndarray | None) -> Any:
    """Return the norm of a change divided by the norm of the array before it, or None if one of them is unknown.

    Args:
        before: The array before the change.
        after: The array after the change.

    Returns:
        The ratio, or "from 0" for a change of an array of zeros, as with a bias in the first step.
    """
    if before is None or after is None or before.shape != after.shape:
        return None
    with np.errstate(all="ignore"):
        norm, change = float(np.linalg.norm(before)), float(np.linalg.norm(after - before))
        if norm == 0:
            return "from 0" if change else 0.0
        return to_plain_number(change / norm)


def describe_modules(model: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the classes of a model's modules by path, and the paths of Keras layers by name.

    Args:
        model: The model, or None.
    """
    named_modules = getattr(model, "named_modules", None)
    if named_modules is not None:
        return {path: type(module).__name__ for path, module in named_modules() if path}, {}
    layers = [*getattr(model, "layers", ())]
    classes = {f"layers.{number}": type(layer).__name__ for number, layer in enumerate(layers)}
    return classes, {layer.name: f"layers.{number}" for number, layer in enumerate(layers)}


def list_module_rows(
    recording: FrameworkRecording, layer_paths: Mapping[str, str] = MappingProxyType({})
) -> dict[str, list[list[Any]]]:
    """Return the operations of the last step, by the path of the module that ran them.

    Args:
        recording: The recording.
        layer_paths: The paths of layers whose scopes have another name.

    Returns:
        For each operation its row, name, shape, line, and the norm of its adjoint. Empty if the step is too long.
    """
    sweeps = list_steps(recording)
    last = sweeps[-1] if sweeps else None
    begin = sweeps[-2].row_count if len(sweeps) > 1 else 0
    end = last.row_count if last is not None and last.row_count > begin else len(recording.rows)
    operations = [row for row in recording.rows[begin:end] if row.kind == "operation"]
    modules: dict[str, list[list[Any]]] = {}
    if len(operations) > MAX_ROWS:
        return modules
    for row in operations:
        # The scope of a JAX row does not begin with the model.
        names = row.scope if recording.framework == "jax" else row.scope[1:]
        path = ".".join(layer_paths.get(name, name) for name in names)
        modules.setdefault(path, []).append(describe_row(row, last))
    return modules


def describe_row(row: RecordedRow, sweep: BackwardPass | None) -> list[Any]:
    """Return the number, the name, the shape, the line and the norm of the adjoint of an operation.

    Args:
        row: The row of the operation.
        sweep: The backward pass of its step, or None if there was none.
    """
    has_adjoint = sweep is not None and row.index in sweep.adjoints
    size = math.prod(row.shape)
    norm = measure_norm([sweep.adjoints[row.index]] if sweep is not None and has_adjoint else [], size)
    name = f"{row.name} = {row.label}" if row.name and row.name != row.label else row.label
    return [row.index, name, [int(length) for length in row.shape], row.site[1], norm]


def keep_some_steps(parameters: Iterable[dict[str, Any]], step_count: int) -> None:
    """Keep at most MAX_STEPS steps of each parameter, at equal distances.

    Args:
        parameters: The parameters' dictionaries.
        step_count: The number of steps.
    """
    if step_count <= MAX_STEPS:
        return
    kept = np.linspace(0, step_count - 1, MAX_STEPS).round().astype(int).tolist()
    for parameter in parameters:
        for field in ("norms", "updates", "causes"):
            parameter[field] = [parameter[field][step] for step in kept]
