"""Define the recording of a program in another framework.

No framework is imported here. A bridge writes a recording, which is the basis of all pictures and explanations.

A bridge adds a row for each leaf and each operation, and a :class:`BackwardPass` for each backward pass. The pass
stores the adjoint that arrived at each row, and the share that each operation sent to each of its inputs.
``docs/bridges.md`` shows how to write a recording by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Unpack, cast
from warnings import warn

from ..common.garbage_collection import pause_garbage_collection
from ..common.translation import format_error
from ..engine.record.user_frames import find_user_frame
from ..picture.figure import Figure
from ..picture.graph import build_digraph
from ..picture.layer_folds import fold_layers
from ..picture.reader_base import Reader, collect_namespaces
from ..picture.shown_values import leave_out_texts_if_long
from ..picture.snapshot_types import Kind, ResultFields, Snapshot
from ..picture.snapshots import build_snapshot
from ..picture.source import PictureSource
from ..recording.recorded_rows import BackwardPass, Escape, OptionalBackwardPass, RecordedRow, RecordedRowList, RowFacts
from ..recording.sites import Site, get_site_running_in_frame, read_source_lines
from .framework_adapter import RowNumber as RowNumber
from .picture_reader import (
    NamedSource,
    RecordingReader,
    RecordingSteps,
    drop_excess_thumbnails,
    list_shown_sweep_result_if_any,
    to_shown_value_fields,
)

if TYPE_CHECKING:
    import graphviz

    from ..engine.types import (
        Action,
        NamesByRow,
        OptionalNumber,
        OptionalText,
        RowByRow,
        RowIterable,
        RowList,
        RowSequence,
        TextList,
        TextsByName,
    )
    from ..picture.known_rules import KnownRule
    from .checkup import FrameworkRecording

ROW_LIMIT = 20_000
SourcesByName = dict[str, Any]  # The parameters or arguments of a program. Each framework defines their type.
# Pictures use the framework's own terms to say why a leaf gets a gradient.
WATCH_REASONS = {"torch": "requires_grad", "jax": "argument"}
# The kind of break that pictures show for each cause of a break.
CUT_BY_CAUSE = {
    **dict.fromkeys("stop_gradient detach data copied".split(), "stop_gradient"),
    **dict.fromkeys("no_grad inference_mode create_graph not_recorded".split(), "paused"),
    **dict.fromkeys(("integer_cast", "integer_dtype"), "integer"),
    **dict.fromkeys("nondifferentiable no_derivative zero_derivative".split(), "nondifferentiable"),
}


class Recording(PictureSource):
    """The recorded computation of a program in another framework.

    ``TapeView``, ``tf.draw`` and ``tf.snapshot`` accept a recording in place of a tape. The rows are shown after
    :meth:`close` is called.

    Attributes:
        framework: The name of the framework, such as "torch".
        internal_error: The error in the bridge that ended the recording early, or None if there was no error.
        rows: The rows, in the order in which they were recorded.
        sweeps: The backward passes, in the order in which they ran.
        events: The events that pictures show, such as assignments and escapes, as ``EventFields``.
        escapes: The values that left the framework.
        failed_target_rows: The target rows of the last backward pass, if it ended in an error.
        left_out: The number of operations not recorded because the recording already had ``ROW_LIMIT`` rows.
        is_rerun: Whether the recorded program is a compiled step that was rerun up to its gradient, without the
            optimizer step.
        has_placeholder_values: Whether the program ran with placeholder values. In that case, only the shapes of its
            values are meaningful.
        watched: Always empty. The attribute exists because pictures also read it from tapes.
        listeners: The functions that :meth:`close` calls.
        known_rules: For each row that a picture showed, the rule in minitape's own table, or None if the table has no
            rule for the row.
        sources_by_row: The cached result of ``map_rows_to_trained_sources``.
        last_gradient_call: The last backward pass of a complete recording as (target rows, source rows, None), or None
            if no backward pass ran.

    >>> recording = Recording("by hand")
    >>> x = recording.add_leaf(3.0, name="x")
    >>> y = recording.add_operation("square", [x], 9.0, label="x²")
    >>> sweep = recording.add_backward_pass([y])
    >>> sweep.set_adjoint(y, 1.0)
    >>> sweep.send(y, x, 0, 6.0, 6.0)
    >>> sweep.set_adjoint(x, 6.0)
    >>> recording.close()
    >>> recording.snapshot()["sweep"]["gradients"]
    [{'text': '6.0', 'data': 6.0}]
    """

    last_gradient_call: Sequence[Any] | None = None

    def __init__(self, framework: str):
        """Create an empty recording of a program in ``framework``."""
        self.framework = framework
        self.internal_error: Exception | None = None
        self.rows: RecordedRowList = []
        self.sweeps: list[BackwardPass] = []
        self.events: list[dict] = []
        self.escapes: list[Escape] = []
        self.failed_target_rows: RowList = []
        self.left_out = 0
        self.is_rerun = False
        self.has_placeholder_values = False
        self.watched: RowByRow = {}
        self.listeners: list[Action] = []
        self.known_rules: dict[int, KnownRule | None] = {}
        self.sources_by_row: dict[int, NamedSource] | None = None
        self._recording = True

    # -- writing -----------------------------------------------------------------------------------

    def add_leaf(
        self,
        value: Any,
        *,
        name: OptionalText = None,
        kind: Kind = "source",
        tracked: bool = True,
        inputs: RowSequence = (),
        **facts: Unpack[RowFacts],
    ) -> int:
        """Add a row for a value that no recorded operation computed.

        Args:
            value: The value, in a form described by :class:`RecordedRow`.
            name: The program's name for the value.
            kind: "source", "variable" or "constant".
            tracked: Whether a gradient can continue from the row.
            inputs: The rows whose values the leaf was created from.
            **facts: The other fields of the row; see :class:`RecordedRow`.

        Returns:
            The new row's number.
        """
        watched = None
        if tracked:
            watched = WATCH_REASONS.get(self.framework, "automatic" if kind == "variable" else "explicit")
        label = "const" if kind == "constant" else (name or "x")
        row = RecordedRow(
            len(self.rows),
            "leaf",
            kind,
            inputs=list(inputs),
            label=label,
            value=value,
            name=name,
            tracked=tracked,
            watched=watched,
            **facts,
        )
        self.rows.append(row)
        return row.index

    def add_operation(
        self,
        op: str,
        inputs: RowSequence,
        value: Any,
        *,
        label: str = "",
        name: OptionalText = None,
        tracked: bool = True,
        watched: OptionalText = None,
        **facts: Unpack[RowFacts],
    ) -> int:
        """Add a row for the result of an operation on earlier rows.

        Args:
            op: The framework's name for the operation.
            inputs: The numbers of the rows that the operation read.
            value: The result, in a form described by :class:`RecordedRow`.
            label: The text shown in the node of a picture. The default is ``op``.
            name: The program's name for the result.
            tracked: Whether a gradient can continue from the row.
            watched: The reason why a gradient for the result is computed, or None if the program did not ask for one.
            **facts: The other fields of the row; see :class:`RecordedRow`.

        Returns:
            The new row's number.
        """
        if (cause := facts.get("cause")) and self.is_any_tracked(inputs):
            facts.setdefault("cut", CUT_BY_CAUSE.get(cause))
        frame = find_user_frame(sys._getframe(1))
        if frame is not None and get_site_running_in_frame(frame) == facts.get("site"):
            facts["offset"] = frame.f_lasti
        row = RecordedRow(
            len(self.rows),
            op,
            "operation",
            inputs=list(inputs),
            label=label or op,
            value=value,
            name=name,
            tracked=tracked,
            watched=watched,
            **facts,
        )
        self.rows.append(row)
        return row.index

    def is_any_tracked(self, rows: RowIterable) -> bool:
        """Return whether a gradient can continue from any of the given rows."""
        return any(self.rows[row].tracked for row in rows)

    def record_escape(self, row: int, method: str, site: Site) -> None:
        """Record that a value leaves the framework.

        Args:
            row: The row of the value.
            method: The method that returned the value to Python, such as "item" or "__bool__".
            site: The file and line of the call.
        """
        self.escapes.append(Escape(row, method, site, len(self.rows)))
        self.events.append({"kind": "numpy", "row": row, "line": site[1]})

    def add_backward_pass(self, target: RowSequence = ()) -> BackwardPass:
        """Add a backward pass that starts at the ``target`` rows, and return it."""
        backward_pass = BackwardPass(target)
        backward_pass.row_count = len(self.rows)
        self.sweeps.append(backward_pass)
        return backward_pass

    def store_first_internal_error_and_warn(self, error: Exception) -> None:
        """Store the first error that the bridge itself raised, and warn that the recording ended early.

        The program continues. Watchers record nothing more once an error is stored.
        """
        if self.internal_error is None:
            self.internal_error = error
            warn(f"The recording ended early: {format_error(error)}", RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """Mark the recording as complete, so that pictures may read it, and call the listeners."""
        self._recording = False
        if self.sweeps:
            self.last_gradient_call = (
                self.sweeps[-1].target,
                self.list_source_or_reached_leaf_rows_of_sweep(self.sweeps[-1]),
                None,
            )
        for listener in self.listeners:
            listener()

    # -- reading -----------------------------------------------------------------------------------

    def read_source_lines(self, file: str) -> TextList:
        """Return the lines of one of the program's source files, including line endings."""
        return read_source_lines(file)

    def snapshot(self, target: Any = None, sources: Any = None) -> dict:
        """Return the snapshot that pictures show, in the format documented in :mod:`minitape.picture.snapshots`.

        Args:
            target: The target whose last backward pass is shown, or None for the most recent backward pass.
            sources: One source or a list of sources, or None for all sources that the backward pass reached.

        Returns:
            The snapshot dictionary, as described in ``tf.snapshot``. Names come from the caller's variables.
        """
        return self.build_snapshot(collect_namespaces(sys._getframe(1)), target, sources)

    @pause_garbage_collection()
    def build_snapshot(self, namespaces: Iterable[dict], target: Any = None, sources: Any = None) -> dict:
        """Build the snapshot that :meth:`snapshot` returns, with names from the given namespaces.

        Args:
            namespaces: The dictionaries in which to look up Python names for rows.
            target: The target whose last backward pass is shown, or None for the most recent backward pass.
            sources: One source or a list of sources, or None for all sources that the backward pass reached.

        Returns:
            The snapshot dictionary.
        """
        reader = RecordingReader(self, namespaces)
        picture = build_snapshot(self, target, sources, reader, reader.read_new_rows())
        return drop_excess_thumbnails(picture, count(1)) | {"insides": self.build_inside_fields_of_calls(target)}

    def graph(self, model: object = None) -> graphviz.Digraph:
        """Draw the whole model as a graph from top to bottom, with each layer as one node.

        In a model with many layers, each block is one node.

        Args:
            model: The model whose layers ran. The model provides the class names and the parameter counts of the
                layers. If None, the graph shows only the facts in the recording. PyTorch modules are supported.

        Returns:
            A ``graphviz.Digraph``, which a notebook displays and whose ``render`` method writes a file.

        Raises:
            ImportError: If the graphviz package is not installed.
        """
        snapshot = cast("Snapshot", self.build_snapshot(collect_namespaces(sys._getframe(1))))
        digraph = build_digraph(Figure(fold_layers(snapshot, map_layer_paths_to_descriptions(model))))
        digraph.attr(rankdir="TB")
        return digraph

    def build_inside_fields_of_calls(self, target: Any = None, row: OptionalNumber = None) -> list:
        """Return the ``InsideFields`` of each call that a bridge can open. In this base class, the list is empty.

        Args:
            target: The target whose backward pass is shown inside each call.
            row: The row of the only call to open, or None for all calls.

        Returns:
            The ``InsideFields``, one for each call.
        """
        return []

    def find_row(self, value: Any) -> OptionalNumber:
        """Return the last row that stands for ``value``, or None if no such row exists.

        Args:
            value: A framework tensor, or a row number.
        """
        return value if isinstance(value, int) and 0 <= value < len(self.rows) else None

    def list_rows(self, source: Any) -> RowList:
        """Return all rows that have stood for a source, in the order in which they were recorded."""
        row = self.find_row(source)
        return [] if row is None else [row]

    def collect_sources_meant_to_be_trained(self) -> SourcesByName:
        """Return the sources that were trained in the block, keyed by their names in the program."""
        return {}

    def map_unnamed_result_rows_to_names(self) -> NamesByRow:
        """Return the names that pictures give to unnamed results, keyed by row."""
        return {}

    def list_source_or_reached_leaf_rows_of_sweep(self, sweep: BackwardPass) -> RowList:
        """Return the rows of the sources requested in a sweep.

        If the program named no sources, return the rows of the leaves that the sweep reached.
        """
        return sweep.sources or [row for row in sorted(sweep.adjoints) if self.rows[row].kind != "operation"]

    def find_last_sweep(self, target: Any = None) -> OptionalBackwardPass:
        """Return the last sweep (from ``target``, if given), or None if no such sweep ran."""
        if target is None:
            return self.sweeps[-1] if self.sweeps else None
        return self.find_last_sweep_from_or_else_through(self.find_row(target))

    def list_sweeps_from_or_else_through(self, row: OptionalNumber) -> list[BackwardPass]:
        """Return the sweeps that began at a row, latest first.

        If no sweep began at the row, return the sweeps that passed through it, such as a sweep that began at the scaled
        value of a loss.
        """
        passes = self.sweeps[::-1]
        return [sweep for sweep in passes if row in sweep.target] or [sweep for sweep in passes if row in sweep.edges]

    def find_last_sweep_from_or_else_through(self, row: OptionalNumber) -> OptionalBackwardPass:
        """Return the last sweep that began at a row, or else the last sweep that passed through it, or None."""
        return next(iter(self.list_sweeps_from_or_else_through(row)), None)

    def __repr__(self) -> str:
        """Describe the recording: its framework, and how many rows and backward passes it has."""
        count = len(self.rows)
        sweeps = len(self.sweeps)
        return (
            f"Recording({self.framework}, {count} row{'' if count == 1 else 's'}, "
            f"{sweeps} backward pass{'' if sweeps == 1 else 'es'})"
        )

    def find_explainable_object(self, row: int) -> Any:
        """Return the object that a picture passes to ``explain`` for a row, or None if it no longer exists."""
        return self.rows[row].find_object()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __bool__(self) -> bool:
        """Return True, because a recording without rows is still a recording."""
        return True

    # -- what a picture needs (see PictureSource) ---------------------------------------------------

    @property
    def record(self) -> Recording | None:
        """The recording itself once it is complete, or None before then."""
        return None if self._recording else self

    @property
    def is_recording(self) -> bool:
        """Whether the recording is not yet complete."""
        return self._recording

    @property
    def is_used(self) -> bool:
        """Whether the recording is complete. No further gradients can be computed from a complete recording."""
        return not self._recording

    def add_listener(self, listener: Action) -> None:
        """Add a function to call when the recording is complete."""
        self.listeners = [*self.listeners, listener]

    def find_object_of_leaf_or_candidate(self, row: int, candidates: Iterable[Any]) -> Any:
        """Return the variable or tensor to pass to ``explain`` for a row, or None if it no longer exists.

        Args:
            row: The number of the row.
            candidates: Ignored, because only tapes need them.
        """
        is_shown = not self._recording and row in range(len(self.rows))
        return self.find_explainable_object(row) if is_shown else None

    def build_reader(self, namespaces: Iterable[dict]) -> Reader:
        """Return the reader that reads the rows for a picture."""
        return RecordingReader(self, namespaces)

    def build_stepper(
        self, target: Any, sources: Any, kept_arrays: Any = None, show: Callable[[Any], Any] = to_shown_value_fields
    ) -> RecordingSteps | None:
        """Return the sweep that a picture shows.

        Args:
            target: The target of the sweep, or None for the most recent sweep.
            sources: One source or a list of sources to show, or None for the sweep's own sources.
            kept_arrays: Ignored, because only tapes need them.
            show: Ignored, because recorded values format themselves.

        Returns:
            The steps, or None if the recording is incomplete or no sweep began at or passed through the target.
        """
        sweep = None if self._recording else self.find_last_sweep(target)
        return None if sweep is None else RecordingSteps(self, sweep, sources)

    def list_results_of_gradient_calls(
        self, target: Any, sources: Any, kept_arrays: Any, namespaces: Iterable[dict]
    ) -> list[ResultFields]:
        """Return a list with the RESULT of the displayed backward pass, or an empty list.

        Args:
            target: The target of the backward pass, or None for the most recent backward pass.
            sources: The sources to show, or None for all sources that the backward pass reached.
            kept_arrays: Ignored, because only tapes need them.
            namespaces: The dictionaries in which to look up Python names for rows.
        """
        if self._recording:
            return []
        with leave_out_texts_if_long(len(self)):
            return list_shown_sweep_result_if_any(self, target, sources, namespaces)

    def explain_gradient(self, target: Any, source: Any) -> Any:
        """Return the explanation that ``explain(target, source)`` returns.

        Args:
            target: The target or its row, or None for the last backward pass.
            source: The source or its row.

        Raises:
            AttributeError: If the recording was written by hand, without a framework.
        """
        return cast("FrameworkRecording", self).explain(target, source)

    def explain_shown_gradient(self, result: ResultFields | None, ends: Any) -> Iterator[Any]:
        """Yield the explanation of each gradient that a picture shows.

        Args:
            result: The RESULT of the backward pass, or None if the picture shows none.
            ends: Ignored, because only tapes need them.
        """
        if not result:
            return
        target = self.find_explainable_object(result["target"][0]["row"])
        for source in result["sources"]:
            if source["at"] >= 0:
                yield self.explain_gradient(target, self.find_explainable_object(source["at"]))


def map_layer_paths_to_descriptions(model: object) -> TextsByName:
    """Return the class and the number of parameters of each layer, keyed by the layer's path in the model.

    Args:
        model: A model with a ``named_modules`` method, such as a PyTorch module. If the model has no such method, the
            result is empty.
    """
    named_modules = getattr(model, "named_modules", None)
    if named_modules is None:
        return {}
    descriptions = {}
    for path, module in named_modules():
        if any(True for _ in module.children()):  # The parameters of a container belong to its layers.
            continue
        count = sum(parameter.numel() for parameter in module.parameters())
        name = type(module).__name__
        descriptions[path] = f"{name}, {count:,} parameters" if count else name
    return descriptions
