"""The rows of a recording of PyTorch: which row stands for which tensor, and a new one for what was computed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.autograd.function import BackwardCFunction

from ...recording.sites import NOWHERE, Site, find_user_call_stack, find_user_site
from ..kept_values import IdentityMap
from ..recording import ROW_LIMIT, RecordingEntry
from .autograd_graph import TorchGraph, find_autograd_node, strip_node_name
from .kept_tensors import KeptTensors, count_in_place_changes, get_storage_id
from .parameter_history import ParameterHistory
from .training_events import TrainingLog

if TYPE_CHECKING:
    from ...explain.reasons.question import RecordedRow
    from ...picture.snapshot_types import Kind
    from .recording import TorchRecording

LABELS = dict(
    pair.split()
    for pair in (
        "add +|sub −|rsub −|mul ×|div ÷|truediv ÷|true_divide ÷|rdiv ÷|rtruediv ÷|matmul @|mm @|bmm @|neg −x|"
        "pow xʸ|rpow xʸ|square x²|sqrt √|sum Σ|iadd +|isub −|imul ×|itruediv ÷"
    ).split("|")
) | {"getitem": "[ ]", "setitem": "[ ] ="}


class TorchExtra:
    """What explain asks about a row of PyTorch."""

    __slots__ = "tensor_ref cause node_name origin_rows custom_rule call_stack".split()

    def __init__(
        self, tensor: torch.Tensor, cause: str = "", origin_rows: Sequence[int] = (), call_stack: Sequence[Site] = ()
    ) -> None:
        self.tensor_ref = weakref.ref(tensor)
        self.cause = cause  # why no gradient passes
        self.origin_rows = origin_rows  # rows with whose values a leaf was made
        self.call_stack = call_stack  # of a row that ran where gradients are off, the outermost statement first
        node = find_autograd_node(tensor)
        self.node_name = "" if node is None else node.name()
        # of a Function with a backward() of its own
        self.custom_rule = type(node)._forward_cls.backward if isinstance(node, BackwardCFunction) else None


def get_extra(row: RecordingEntry | RecordedRow) -> TorchExtra:
    """Return what explain asks about a row of PyTorch."""
    extra: TorchExtra = row.extra
    return extra


class GradClearing(NamedTuple):
    """A ``.grad`` was set to None: where, and after how many backward passes."""

    site: Site
    sweep_count: int


class LeafOrigin(NamedTuple):
    """Why a leaf has no history, the rows with whose values it was made, and where."""

    cause: str
    rows: Sequence[int]
    site: Site


class TorchLog:
    """Writes the rows of a recording."""

    def __init__(self, recording: TorchRecording) -> None:
        self.recording = recording
        self.entries = recording.entries
        self.kept_tensors = KeptTensors()
        self.graph = TorchGraph(self)
        self.training = TrainingLog()
        self.history = ParameterHistory()
        self.scope: tuple[str, ...] = ()
        # rows of what was computed before the block, or by C++ alone: their line is that of the first use
        self.unrecorded_rows: set[int] = set()
        self.in_place_changes: list[tuple[int, int]] = []  # rows before and after a change in place
        # where .grad was set to None, and after how many sweeps
        self.grad_clearings: IdentityMap[GradClearing] = IdentityMap()
        # where what is not recorded, as under torch.func, used a tensor
        self.unrecorded_use_sites: IdentityMap[Site] = IdentityMap()
        # .grad that the program read: the rows of the targets, and where it was read
        self.grad_reads: IdentityMap[tuple[list[int], Site]] = IdentityMap()
        # which row stands for a tensor, in which version of it
        self._current_rows: IdentityMap[tuple[int, int]] = IdentityMap()
        self._rows_by_tensor: IdentityMap[list[int]] = IdentityMap()  # all rows that stood for a tensor
        # leaves that require grad, by their memory
        self._leaves_by_storage: dict[int, Callable[[], torch.Tensor | None]] = {}
        self._leaf_origins: IdentityMap[LeafOrigin] = IdentityMap()  # leaves whose values were computed
        # where a function that takes no tensors made one, or a parameter was made: its line is known when it is used
        self.creations: IdentityMap[Site] = IdentityMap()

    # -- which row ---------------------------------------------------------------------------------

    def find_current_row(self, tensor: torch.Tensor) -> int | None:
        """Return the row of a tensor in its present version; None if it has none."""
        row, version = self._current_rows.get(tensor, (None, 0))
        return row if version == count_in_place_changes(tensor) else None

    def find_or_add_row(self, tensor: torch.Tensor) -> int:
        """Return the row of a tensor in its present version; add one for a leaf or for what was computed unseen."""
        row = self.find_current_row(tensor)
        if row is not None:
            return row
        return self._add_leaf(tensor) if find_autograd_node(tensor) is None else self._add_unrecorded_row(tensor)

    def list_rows(self, tensor: torch.Tensor) -> list[int]:
        """Return all rows that stood for a tensor, in order."""
        return self._rows_by_tensor.get(tensor, [])

    def is_unused_leaf_while_grad_is_off(self, tensor: torch.Tensor) -> bool:
        """Return whether gradients are off and a tensor is a leaf that was not used yet."""
        return not (torch.is_grad_enabled() or tensor.grad_fn or self.list_rows(tensor))

    def list_leaf_rows(self, tensor: torch.Tensor) -> list[int]:
        """Return the rows in which a tensor was a leaf: one for each of its states that were used."""
        return [row for row in self.list_rows(tensor) if self.entries[row].kind != "operation"]

    def forget_current_row(self, tensor: torch.Tensor) -> None:
        """Forget which row stands for a tensor: from now on another one does."""
        self._current_rows.discard_owner(tensor)

    def register_row(self, tensor: torch.Tensor, row: int) -> None:
        """Note that from now on this row stands for a tensor."""
        self._current_rows[tensor] = row, count_in_place_changes(tensor)
        self._rows_by_tensor.setdefault(tensor, []).append(row)

    def note_creation_site(self, tensor: torch.Tensor) -> None:
        """Note the line that created a tensor by a function without tensor arguments, or by a parameter's class."""
        self.creations[tensor] = find_user_site()

    def is_leaf_created_before_block(self, row: int) -> bool:
        """Return whether a row is a leaf that was created before the block."""
        tensor = get_extra(self.entries[row]).tensor_ref()
        return tensor is not None and self.entries[row].kind != "operation" and self.creations.get(tensor) is None

    def note_unrecorded_use(self, tensors: Iterable[torch.Tensor]) -> None:
        """Note that a function that torch.func transforms, or a Function of the program's own, used tensors: what
        happens there is not recorded.
        """
        for tensor in tensors:
            if tensor.requires_grad and (tensor.is_leaf or self.list_rows(tensor)):
                self.unrecorded_use_sites[tensor] = find_user_site()

    def note_origin_of_leaf_values(self, leaf: torch.Tensor, value_tensors: Iterable[torch.Tensor], cause: str) -> None:
        """Note that the values of a leaf came from other tensors: ``nn.Parameter(t)``, ``w.data = t``, ``w.copy_(t)``
        under no_grad.
        """
        rows = [
            row
            for value_tensor in value_tensors
            if value_tensor is not leaf and (row := self.find_current_row(value_tensor)) is not None
        ]
        rows = [
            row
            for row in rows
            if (cause == "wrapped" and self.entries[row].tracked) or self._is_computed_beyond_leaf_copy(row)
        ]
        if rows:
            self._leaf_origins[leaf] = LeafOrigin(cause, rows, find_user_site())

    def _is_computed_beyond_leaf_copy(self, row: int) -> bool:
        """Return whether a row is more than a copy of a leaf, and no step of an optimizer, which is computed with
        gradients.
        """
        stack, visited = [row], set()
        while stack:
            current_row = stack.pop()
            entry = self.entries[current_row]
            if get_extra(entry).cause == "create_graph":
                return False
            if current_row not in visited and not entry.tracked:
                visited.add(current_row)
                stack += entry.inputs
        entry = self.entries[row]
        return entry.kind == "operation" and not (
            get_extra(entry).cause in ("data", "detach") and self.entries[entry.inputs[0]].kind != "operation"
        )

    def find_leaf_sharing_memory(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the leaf whose memory a tensor has: itself, or that of which ``.data`` or ``detach()`` gave it."""
        leaf = self._leaves_by_storage.get(get_storage_id(tensor), lambda: None)()
        is_alike = leaf is not None and leaf.requires_grad and find_autograd_node(leaf) is None
        return leaf if is_alike and leaf is not None and get_storage_id(leaf) == get_storage_id(tensor) else None

    def on_grad_read(self, gradient: torch.Tensor, target_rows: list[int]) -> None:
        """Note that the program read a .grad: what is computed from it depends on those targets' ancestors, too."""
        if target_rows and self.find_current_row(gradient) is None:
            self.grad_reads[gradient] = target_rows, find_user_site()

    @property
    def is_full(self) -> bool:
        """Whether no more rows are written."""
        return len(self.entries) >= ROW_LIMIT

    # -- new rows ----------------------------------------------------------------------------------

    def _add_leaf(self, tensor: torch.Tensor, cause: str = "", origin_rows: Sequence[int] = ()) -> int:
        """Add a row for the present state of a leaf; ``cause`` and ``origin_rows`` say what its values came from."""
        site = self.creations.get(tensor) or find_user_site()
        kind: Kind = (
            "variable" if isinstance(tensor, torch.nn.Parameter) else "source" if tensor.requires_grad else "constant"
        )
        earlier_rows = self.list_leaf_rows(tensor)
        if not origin_rows:
            cause, origin_rows, site = self._find_leaf_origin(tensor, site)
        latest_rows = self.list_rows(tensor)[-1:]
        # a result that became a leaf by requires_grad_()
        if latest_rows and self.entries[latest_rows[0]].kind == "operation":
            origin_rows = latest_rows
        row = self.recording.leaf(
            self.kept_tensors.keep_value(tensor, must_copy=True),
            kind=kind,
            version=len(earlier_rows),
            site=site,
            dtype=format_dtype(tensor),
            shape=tensor.shape,
            tracked=tensor.requires_grad,
            extra=TorchExtra(tensor, cause, origin_rows),
        )
        self.register_row(tensor, row)
        if tensor.requires_grad and not any(self.entries[earlier_row].tracked for earlier_row in earlier_rows):
            self._leaves_by_storage[get_storage_id(tensor)] = weakref.ref(tensor)
            self.graph.attach_hook_to_leaf(tensor)
        return row

    def _find_leaf_origin(self, tensor: torch.Tensor, default_site: Site) -> LeafOrigin:
        """Return why a leaf has no history, and the rows with whose values it was made."""
        grad_read = self.grad_reads.get(tensor)
        if grad_read is not None:
            return LeafOrigin("create_graph", *grad_read)
        origin: LeafOrigin = self._leaf_origins.get(tensor, LeafOrigin("", (), default_site))
        return origin

    def _add_unrecorded_row(self, tensor: torch.Tensor) -> int:
        """Add a row for a tensor that autograd knows, and that was made before the block, or by C++ alone."""
        rows = self.graph.find_nearest_ancestor_rows([tensor])
        row = self.record_operation(strip_node_name(tensor.grad_fn.name()), rows, [tensor])[0]
        self.unrecorded_rows.add(row)
        return row

    def record_operation(
        self, op: str, input_rows: list[int], outputs: list[torch.Tensor], cause: str = "", site: Site = NOWHERE
    ) -> list[int]:
        """Add rows for the results of a call, and return them."""
        site = find_user_site() if site is NOWHERE else site
        has_tracked_input = any(self.entries[row].tracked for row in input_rows)
        name = op.strip("_") or op
        label = LABELS.get(name, name)
        rows: list[int] = []
        for number, tensor in enumerate(outputs):
            # a view that no_grad made: it says that it requires grad, and has no history
            is_untracked_view = tensor._is_view() and not torch.is_grad_enabled()
            # a new leaf: torch.tensor(t, requires_grad=True)
            if tensor.requires_grad and not is_untracked_view and find_autograd_node(tensor) is None:
                rows.append(self._add_leaf(tensor, cause, input_rows))
                continue
            is_tracked = tensor.requires_grad and not is_untracked_view
            result_cause = "" if is_tracked else self._find_break_cause(tensor, cause, has_tracked_input)
            row = self.recording.operation(
                name,
                input_rows,
                self.kept_tensors.keep_value(tensor),
                label=label,
                call_id=rows[0] if rows else None,
                output=number,
                site=site,
                dtype=format_dtype(tensor),
                shape=tensor.shape,
                scope=self.scope,
                cut=CUT_BY_CAUSE.get(result_cause) if has_tracked_input else None,
                tracked=is_tracked,
                extra=TorchExtra(
                    tensor,
                    result_cause,
                    call_stack=find_user_call_stack() if has_tracked_input and result_cause in PAUSE_BLOCKS else (),
                ),
            )
            self.register_row(tensor, row)
            rows.append(row)
        self.graph.attach_hooks_to_call(rows, outputs)
        return rows

    def _find_break_cause(self, tensor: torch.Tensor, known_cause: str, has_tracked_input: bool) -> str:
        """Return why a result has no gradient; empty for what is computed from constants and would have one."""
        if known_cause:
            return known_cause
        if tensor.is_inference():
            return "inference_mode"
        if not torch.is_grad_enabled():
            return "no_grad"
        return "no_derivative" if has_tracked_input or not is_differentiable(tensor.dtype) else ""

    def on_escape(self, tensor: torch.Tensor, method: str) -> None:
        """Record that a value leaves PyTorch."""
        self.recording.record_escape(self.find_or_add_row(tensor), method, find_user_site())

    def on_assign(self, tensor: torch.Tensor) -> None:
        """Record that a leaf was given new values, by an optimizer or in place."""
        self.forget_current_row(tensor)
        event = {"kind": "assign", "name": self.history.find_tensor_name(tensor), "line": find_user_site()[1]}
        rows = self.list_leaf_rows(tensor)
        self.recording.events.append(event | ({"from": rows[-1]} if rows else {}))


PAUSE_BLOCKS = ("no_grad", "inference_mode")  # blocks, or functions, in which autograd writes nothing
CUT_BY_CAUSE = {
    "detach": "stop_gradient",
    "data": "stop_gradient",
    "copied": "stop_gradient",
    "no_grad": "paused",
    "inference_mode": "paused",
    "create_graph": "paused",
    "integer_cast": "integer",
    "no_derivative": "nondifferentiable",
}


def is_differentiable(dtype: torch.dtype) -> bool:
    """Return whether gradients flow through values of this dtype."""
    return dtype.is_floating_point or dtype.is_complex


def format_dtype(tensor: torch.Tensor) -> str:
    """Return the name of a tensor's dtype without "torch."."""
    return str(tensor.dtype).removeprefix("torch.")
