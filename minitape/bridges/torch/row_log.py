"""Write the rows of a PyTorch recording, and find the row that stands for a tensor."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction
from torch.nn import Parameter

from ...common.shared_results import get_or_build_shared_result
from ...recording.sites import CallStack, Site, find_user_call_stack, find_user_site
from ..kept_values import IdentityMap
from ..recording import ROW_LIMIT, RecordedRow
from .autograd_graph import TorchGraph, find_grad_fn, strip_node_name
from .distributed_tensors import map_sharded_ids_to_gathered_parameters
from .kept_tensors import KeptTensors, OptionalTensor, Tensors, count_in_place_changes, get_storage_id
from .ledger.run_watch import TorchRunWatch
from .parameter_history import ParameterHistory

if TYPE_CHECKING:
    from ...engine.types import NumberPair, OptionalNumber, RowList, RowSequence, RowSet, Scope
    from ...picture.snapshot_types import Kind
    from ...recording.recorded_rows import RecordedRow
    from .kept_tensors import TorchValue
    from .recording import TorchRecording

LABELS = dict(
    pair.split()
    for pair in (
        "add +|sub −|rsub −|mul ×|div ÷|truediv ÷|true_divide ÷|rdiv ÷|rtruediv ÷|matmul @|mm @|bmm @|neg −x|"
        "pow xʸ|rpow xʸ|square x²|sqrt √|sum Σ|iadd +|isub −|imul ×|itruediv ÷"
    ).split("|")
) | {"getitem": "[ ]", "setitem": "[ ] ="}


class TorchExtra:
    """The facts about a PyTorch row that ``explain`` needs.

    Attributes:
        tensor_ref: A weak reference to the tensor.
        node_name: The name of the autograd node, or "" for a leaf.
        custom_rule: The ``backward()`` of a custom autograd Function, or None for other operations.
        call_stack: For an operation that ran while gradients were switched off, the lines of its callers, outermost
            first.
        is_wrapped: Whether the row is a new leaf with the values of another tensor, such as the result of
            ``nn.Parameter(t)``.
    """

    __slots__ = "tensor_ref node_name custom_rule call_stack is_wrapped".split()

    def __init__(self, tensor: Tensor, node: Any = None, call_stack: CallStack = (), is_wrapped: bool = False):
        """Store the facts about a tensor's row. A result in autograd's graph has a ``node``."""
        self.tensor_ref = weakref.ref(tensor)
        self.call_stack = call_stack
        self.is_wrapped = is_wrapped
        self.node_name = "" if node is None else node.name()
        self.custom_rule = type(node)._forward_cls.backward if isinstance(node, BackwardCFunction) else None

    def find_object(self) -> OptionalTensor:
        """Return the tensor, or None if it no longer exists."""
        return self.tensor_ref()


def get_extra(row: RecordedRow) -> TorchExtra:
    """Return the facts that the PyTorch bridge stored about a row."""
    extra: TorchExtra = row.extra
    return extra


class GradClearing(NamedTuple):
    """An event in which ``.grad`` was set to None.

    Attributes:
        site: The line that set ``.grad`` to None.
        sweep_count: The number of earlier backward passes.
    """

    site: Site
    sweep_count: int


class LeafOrigin(NamedTuple):
    """The origin of a leaf's values.

    Attributes:
        cause: Why the leaf has no history, or "" if no operation computed its values.
        rows: The rows that the values came from.
        site: The line where the leaf got these values.
    """

    cause: str
    rows: RowSequence
    site: Site


class TorchLog:
    """Writes the rows of a recording.

    Attributes:
        recording: The recording.
        rows: The rows of the recording.
        kept_tensors: The tensors that the recording keeps.
        graph: The hooks on autograd nodes.
        run_watch: The watch that keeps accounts of the gradients.
        history: The history of parameters.
        scope: The path of the modules that are running, outermost first.
        unrecorded_rows: The rows of tensors that were computed before the block, or entirely in C++. The site
            of such a row is the first line that used its tensor.
        in_place_changes: For each in-place change, the rows of the value before and after the change.
        grad_clearings: For each tensor, the last event in which its ``.grad`` was set to None.
        unrecorded_use_sites: For each tensor, the last line on which an unrecorded call, such as a ``torch.func``
            transform, used it.
        missing_grad_reads: The (row, site) pair for each read of ``.grad`` that returned None because the tensor is not
            a leaf.
        creations: The line that created each parameter, and each tensor returned by a function without tensor
            arguments.
        custom_calls: The arguments of the first call to each custom autograd Function.
        first_batches: For each line that fetched only the first batches of data loaders with a fixed order, the rows of
            each batch.
    """

    def __init__(self, recording: TorchRecording):
        """Start the log for ``recording``."""
        # These references are weak, so that a recording's tensors are freed together with the recording and need not
        # wait for the garbage collector.
        self.recording: TorchRecording = weakref.proxy(recording)
        self.rows = recording.rows
        self.kept_tensors = KeptTensors()
        self.graph = TorchGraph(weakref.proxy(self))
        self.run_watch = TorchRunWatch(log=weakref.proxy(self))
        self.history = ParameterHistory()
        self.scope: Scope = ()
        self.unrecorded_rows: RowSet = set()
        self.custom_calls: dict[Any, list[Any]] = {}
        self.first_batches: dict[Site, list[RowList]] = {}
        self.in_place_changes: list[NumberPair] = []
        self.grad_clearings = IdentityMap()
        self.unrecorded_use_sites = IdentityMap()
        self.missing_grad_reads: list[tuple[int, Site]] = []
        self._rows_by_tensor = IdentityMap()  # The values are lists of rows.
        # For each row, the version of its tensor, or -1 if the row has been forgotten.
        self._tensor_versions: dict[int, int] = {}
        # Only leaves that require gradients are stored here.
        self._leaves_by_storage: dict[int, Callable[[], OptionalTensor]] = {}
        self._leaf_origins = IdentityMap()
        self.creations = IdentityMap()

    # -- which row ---------------------------------------------------------------------------------

    def find_current_row(self, tensor: Tensor) -> OptionalNumber:
        """Return the row for a tensor's current version, or None if that version has no row."""
        rows: RowList = self._rows_by_tensor.get(tensor)
        return rows[-1] if rows and self._tensor_versions[rows[-1]] == count_in_place_changes(tensor) else None

    def find_value(self, tensor: Tensor) -> TorchValue | None:
        """Return the kept value of a tensor's current version, or None if that version has no row."""
        row = self.find_current_row(tensor)
        return None if row is None else self.rows[row].value

    def find_or_add_row(self, tensor: Tensor) -> int:
        """Return the row for a tensor's current version.

        If this version has no row, add one for a leaf or for a result of an unrecorded computation.
        """
        row = self.find_current_row(tensor)
        if row is not None:
            return row
        return self._add_leaf(tensor) if find_grad_fn(tensor) is None else self._add_row_of_unrecorded_result(tensor)

    def list_rows(self, tensor: Tensor) -> RowList:
        """Return all rows that have stood for a tensor, or for the parameter that FSDP2 gathered from it, in order."""
        if hasattr(tensor, "to_local"):
            tensor = self.map_sharded_ids_to_gathered_parameters().get(id(tensor), tensor)
        return self._rows_by_tensor.get(tensor, [])

    def map_sharded_ids_to_gathered_parameters(self) -> dict[int, Tensor]:
        """Return the parameters that FSDP2 gathered, keyed by the ``id`` of their ``DTensor``."""
        return get_or_build_shared_result(
            ("unsharded", id(self)),
            lambda: map_sharded_ids_to_gathered_parameters(self.history.list_called_root_modules()),
        )

    def is_unused_leaf_while_grad_is_off(self, tensor: Tensor) -> bool:
        """Return whether gradients are switched off and a tensor is a leaf that has not been used yet."""
        return not (torch.is_grad_enabled() or tensor.grad_fn or self.list_rows(tensor))

    def list_leaf_rows(self, tensor: Tensor) -> RowList:
        """Return the rows in which a tensor appears as a leaf, one for each state that the program used."""
        return [row for row in self.list_rows(tensor) if self.rows[row].kind != "operation"]

    def forget_current_row(self, tensor: Tensor) -> None:
        """Forget the row for a tensor, so that the tensor's next use adds a new row."""
        self._tensor_versions |= dict.fromkeys(self._rows_by_tensor.get(tensor, ()), -1)

    def append_row_of_tensor(self, tensor: Tensor, row: int) -> None:
        """Record that a row stands for a tensor's current version.

        Args:
            tensor: The tensor.
            row: The number of the row.
        """
        self._rows_by_tensor.setdefault(tensor, []).append(row)
        self._tensor_versions[row] = count_in_place_changes(tensor)

    def record_creation_site(self, tensor: Tensor) -> None:
        """Record the line that created a parameter, or a tensor returned by a function without tensor arguments."""
        self.creations[tensor] = find_user_site()

    def is_leaf_created_before_block(self, row: int) -> bool:
        """Return whether a row stands for a leaf that was created before the block."""
        tensor = self.rows[row].find_object()
        return tensor is not None and self.rows[row].kind != "operation" and self.creations.get(tensor) is None

    def record_use_in_unrecorded_call(self, tensors: Iterable[Tensor]) -> None:
        """Record which tensors were used by a call that is not itself recorded.

        Such calls run inside custom autograd Functions or under ``torch.func`` transforms.
        """
        for tensor in tensors:
            if tensor.requires_grad and (tensor.is_leaf or self.list_rows(tensor)):
                self.unrecorded_use_sites[tensor] = find_user_site()

    def record_origin_of_leaf_values(self, leaf: Tensor, value_tensors: Iterable[Tensor], cause: str) -> None:
        """Record that a leaf's values came from other tensors.

        Examples are ``nn.Parameter(t)``, ``w.data = t``, and ``w.copy_(t)`` under ``no_grad``.

        Args:
            leaf: The leaf.
            value_tensors: The tensors that the leaf's values may come from.
            cause: Why no gradient passes between these tensors and the leaf, such as "wrapped".
        """
        rows = [
            row
            for value_tensor in value_tensors
            if value_tensor is not leaf and (row := self.find_current_row(value_tensor)) is not None
            if (cause == "wrapped" and self.rows[row].tracked) or self._is_computed_and_not_leaf_copy(row)
        ]
        if rows:
            self._leaf_origins[leaf] = LeafOrigin(cause, rows, find_user_site())

    def _is_computed_and_not_leaf_copy(self, row: int) -> bool:
        """Return whether a row holds a computed value, and not merely a copy of a leaf.

        The result of an optimizer step does not count, because it is computed from gradients.
        """
        stack = [row]
        visited = set()
        while stack:
            current_row = stack.pop()
            recorded_row = self.rows[current_row]
            if recorded_row.cause == "create_graph":
                return False
            if current_row not in visited and not recorded_row.tracked:
                visited.add(current_row)
                stack += recorded_row.inputs_if_operation
        recorded_row = self.rows[row]
        return recorded_row.kind == "operation" and not (
            recorded_row.cause in ("data", "detach") and self.rows[recorded_row.inputs[0]].kind != "operation"
        )

    def find_leaf_sharing_memory(self, tensor: Tensor) -> OptionalTensor:
        """Return the leaf that shares a tensor's memory, or None if none exists.

        That leaf is either the tensor itself, or the leaf whose ``.data`` or ``detach()`` returned the tensor.
        """
        leaf = self._leaves_by_storage.get(get_storage_id(tensor), lambda: None)()
        if leaf is None or not leaf.requires_grad or find_grad_fn(leaf) is not None:
            return None
        return leaf if get_storage_id(leaf) == get_storage_id(tensor) else None

    def record_grad_read(self, gradient: Tensor) -> None:
        """Record that the program read a ``.grad``.

        Values computed from this gradient also depend on the ancestors of the last backward pass's targets.

        Args:
            gradient: The gradient read by the program.
        """
        target_rows = self.recording.sweeps[-1].target if self.recording.sweeps else []
        if target_rows and self.find_current_row(gradient) is None:
            self._leaf_origins[gradient] = LeafOrigin("create_graph", target_rows, find_user_site())

    def record_missing_grad_read_of_result(self, tensor: Tensor) -> None:
        """Record that the program read the missing ``.grad`` of an operation's result.

        Args:
            tensor: The result.
        """
        row = self.find_current_row(tensor)
        if row is not None:
            self.missing_grad_reads.append((row, find_user_site()))

    @property
    def is_full(self) -> bool:
        """Whether the recording has reached ``ROW_LIMIT`` rows, after which no more are added."""
        return len(self.rows) >= ROW_LIMIT

    # -- new rows ----------------------------------------------------------------------------------

    def _add_leaf(self, tensor: Tensor, cause: str = "", origin_rows: RowSequence = ()) -> int:
        """Add a row for a leaf's current state.

        Args:
            tensor: The leaf.
            cause: Why no gradient passes between the leaf and the rows that its values came from, or "" if there are no
                such rows.
            origin_rows: The rows whose values the leaf was created from.
        """
        is_tracked = tensor.requires_grad
        kind: Kind = "constant"
        if isinstance(tensor, Parameter):
            kind = "variable"
        elif is_tracked:
            kind = "source"
        site = self.creations.get(tensor) or find_user_site()
        if not origin_rows:
            cause, origin_rows, site = self._leaf_origins.get(tensor, ("", (), site))
        all_rows = self.list_rows(tensor)
        earlier_rows = [row for row in all_rows if self.rows[row].kind != "operation"]
        # A result becomes a leaf if the program calls requires_grad_() on it.
        if all_rows and all_rows[-1] not in earlier_rows:
            origin_rows = all_rows[-1:]
        row = self.recording.add_leaf(
            self.kept_tensors.keep_value(tensor, must_copy=True),
            kind=kind,
            version=len(earlier_rows),
            site=site,
            dtype=format_dtype(tensor),
            shape=tensor.shape,
            tracked=is_tracked,
            inputs=origin_rows,
            cause="copied" if cause == "wrapped" else cause,
            extra=TorchExtra(tensor, is_wrapped=cause == "wrapped"),
        )
        self.append_row_of_tensor(tensor, row)
        if is_tracked and not self.recording.is_any_tracked(earlier_rows):
            self._leaves_by_storage[get_storage_id(tensor)] = weakref.ref(tensor)
            self.graph.attach_adjoint_hook_to_leaf(tensor)
        return row

    def _add_row_of_unrecorded_result(self, tensor: Tensor) -> int:
        """Add a row for a result in autograd's graph that was computed before the block or entirely in C++."""
        rows = self.graph.find_nearest_ancestor_rows([tensor])
        row = self.record_operation(strip_node_name(tensor.grad_fn.name()), rows, [tensor])[0]
        self.unrecorded_rows.add(row)
        return row

    def record_operation(
        self, op: str, input_rows: RowList, outputs: Tensors, cause: str = "", label: str = ""
    ) -> RowList:
        """Add rows for the results of a call.

        Args:
            op: The name of the function.
            input_rows: The rows of the tensors that the function read.
            outputs: The results.
            cause: Why no gradient passes through the call, if already known.
            label: The text in the node of a picture, or "" for the operation's usual label.

        Returns:
            The rows of the results, in the same order.
        """
        site = find_user_site()
        has_tracked_input = self.recording.is_any_tracked(input_rows)
        name = op.strip("_") or op
        label = label or LABELS.get(name, name)
        rows = []
        nodes = [find_grad_fn(tensor) for tensor in outputs]
        for number, (tensor, node) in enumerate(zip(outputs, nodes, strict=True)):
            # PyTorch reports that a view created under no_grad requires gradients, although the view has no history.
            is_tracked = tensor.requires_grad and (torch.is_grad_enabled() or not tensor._is_view())
            # Some results are new leaves, as in torch.tensor(t, requires_grad=True).
            if is_tracked and node is None:
                rows.append(self._add_leaf(tensor, cause, input_rows))
                continue
            result_cause = "" if is_tracked else self._find_cause_of_untracked_result(tensor, cause, has_tracked_input)
            is_paused = has_tracked_input and result_cause in PAUSE_BLOCKS
            row = self.recording.add_operation(
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
                tracked=is_tracked,
                cause=result_cause,
                extra=TorchExtra(tensor, node, find_user_call_stack() if is_paused else ()),
            )
            self.append_row_of_tensor(tensor, row)
            rows.append(row)
        self.graph.attach_hooks_to_call(rows, outputs, nodes)
        return rows

    def _find_cause_of_untracked_result(self, tensor: Tensor, known_cause: str, has_tracked_input: bool) -> str:
        """Return the reason why a result has no gradient.

        If the only reason is that the inputs are constants, return "".
        """
        if known_cause:
            return known_cause
        if tensor.is_inference():
            return "inference_mode"
        if not torch.is_grad_enabled():
            return "no_grad"
        return "no_derivative" if has_tracked_input or not is_differentiable(tensor.dtype) else ""

    def record_escape(self, tensor: Tensor, method: str) -> None:
        """Record that a value leaves PyTorch.

        Args:
            tensor: The tensor whose value leaves.
            method: The method that returned the value to Python, such as "item" or "__bool__".
        """
        self.recording.record_escape(self.find_or_add_row(tensor), method, find_user_site())

    def record_that_leaves_got_new_values(self, leaves: Iterable[Tensor]) -> None:
        """Record that leaves received new values from an optimizer or an in-place change."""
        line = find_user_site()[1]
        for leaf in leaves:
            self.forget_current_row(leaf)
            event = {"kind": "assign", "name": self.history.find_tensor_name(leaf), "line": line}
            rows = self.list_leaf_rows(leaf)
            self.recording.events.append(event | ({"from": rows[-1]} if rows else {}))


# Autograd records nothing inside these context managers or in functions that they decorate.
PAUSE_BLOCKS = ("no_grad", "inference_mode")


def is_differentiable(dtype: torch.dtype) -> bool:
    """Return whether a dtype is floating-point or complex, and can therefore carry gradients."""
    return dtype.is_floating_point or dtype.is_complex


def format_dtype(tensor: Tensor) -> str:
    """Return the name of a tensor's dtype without the prefix "torch."."""
    return str(tensor.dtype).removeprefix("torch.")
