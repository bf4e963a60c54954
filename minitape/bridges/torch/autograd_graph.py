"""Connect autograd nodes to the rows of a recording.

During a backward pass, hooks read the adjoints that pass through the nodes. The hooks change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from ...engine.types import OptionalNumber, RowByRow, RowList, RowSet
from ...recording.recorded_rows import BackwardPass, OptionalBackwardPass
from ...recording.sites import NOWHERE, Site
from ..recording import RecordedRow

if TYPE_CHECKING:
    from .kept_tensors import OptionalTensor, Tensors, TorchValue
    from .row_log import TorchLog


class TorchGraph:
    """The hooks on the tensors and nodes of a recording.

    Attributes:
        log: The log that writes the recording's rows.
        target_rows: The target rows of the current backward pass, or an empty list if no pass is running.
        function_name: The function running the backward pass, "backward" or "grad".
        keeps_graph: Whether the program keeps the graph for a later pass.
        site: The program line that called the function.
        is_running: Whether one of the program's backward passes is running.
        current_sweep: The sweep of the current backward pass, or None if no adjoint has arrived.
    """

    def __init__(self, log: TorchLog):
        """Prepare to attach hooks for the recording that ``log`` writes."""
        self.log = log
        self.target_rows: RowList = []
        self.function_name = ""
        self.keeps_graph = False
        self.site = NOWHERE
        self.is_running = False
        self._rows_by_node: dict[Any, RowByRow] = {}  # The inner keys are the numbers of a node's outputs.
        self._hook_handles: list[RemovableHandle] = []
        self._leaf_hooks: list[tuple[Tensor, Callable]] = []
        self._requested_rows: RowSet = set()  # The results that have their own hook.
        self._task_id = -1
        self.current_sweep: OptionalBackwardPass = None
        # For each row, the sum of its shares so far, and the kept value if there was only one share.
        self._partial_sums: dict[int, tuple[Tensor, TorchValue | None]] = {}

    # -- while the program runs --------------------------------------------------------------------

    def attach_adjoint_hook_to_leaf(self, tensor: Tensor) -> None:
        """Attach the hook that reads a leaf's adjoint.

        Attach the hook only once per leaf, even if the leaf has several rows for its different states.
        """
        leaf_ref = ref(tensor)

        def record_leaf_adjoint(adjoint: Tensor) -> None:
            leaf = leaf_ref()
            rows = [] if leaf is None else self.log.list_leaf_rows(leaf)
            self._find_or_begin_current_sweep()
            for row in [row for row in rows if row in self._partial_sums] or rows[-1:]:
                self._record_complete_adjoint(row, True, adjoint)

        hook = partial(self._run_hook_safely, record_leaf_adjoint)
        self._leaf_hooks.append((tensor, hook))
        tensor.register_hook(hook)

    def move_own_hooks_last(self, tensor: Tensor) -> None:
        """Let the recorder's hooks on a tensor run after the program's hooks, which may change the adjoint."""
        hooks = tensor._backward_hooks or {}
        for key, hook in [*hooks.items()]:
            if isinstance(hook, partial) and hook.func == self._run_hook_safely:
                hooks[key] = hooks.pop(key)

    def attach_hooks_to_call(self, output_rows: RowList, outputs: Tensors, output_nodes: list) -> None:
        """Attach hooks that read the adjoints of a call's results and the shares that the call sends to its input rows.

        Each node has one hook for both tasks, because calling a hook takes longer than the work that the hook does.

        Args:
            output_rows: The rows of one call's results.
            outputs: The results, in the same order.
            output_nodes: The autograd nodes of the results, with None for a leaf.
        """
        outputs_by_node: dict[Any, list] = {}
        for row, tensor, node in zip(output_rows, outputs, output_nodes, strict=True):
            if node is not None:
                output_number = tensor.output_nr
                self._rows_by_node.setdefault(node, {})[output_number] = row
                outputs_by_node.setdefault(node, []).append((output_number, row))
        if not outputs_by_node:
            return
        rows = [self.log.rows[row] for row in output_rows]
        take_next_port_of_input = build_function_taking_next_port_of_input(rows[0])
        edges_by_node = dict(self._iter_nodes_with_edges_to_rows([*outputs_by_node]))
        for node in outputs_by_node | edges_by_node:
            ports = [(number, row, take_next_port_of_input(row)) for number, row in edges_by_node.get(node, ())]
            facts = outputs_by_node.get(node, ()), output_rows[0], ports
            hook = partial(self._run_hook_safely, self._record_adjoints_and_shares, *facts)
            self._hook_handles.append(node.register_hook(hook))
        for recorded_row in rows[1:]:
            recorded_row.inputs = rows[0].inputs

    def attach_adjoint_hooks_to_requested_results(self, tensors: Tensors) -> None:
        """Attach hooks to the results for which the program requests gradients.

        A pass ends at these results, so it does not run their nodes.

        Args:
            tensors: The tensors for which the program requests gradients.
        """
        for tensor in tensors:
            row = self.log.find_current_row(tensor)
            if row is not None and not tensor.is_leaf and row not in self._requested_rows:
                self._requested_rows.add(row)
                hook = partial(self._run_hook_safely, self._record_complete_adjoint, row, False)
                self._hook_handles.append(tensor.register_hook(hook))

    def find_nearest_ancestor_rows(self, tensors: Iterable[Tensor]) -> RowList:
        """Return the nearest rows that the tensors depend on in autograd's graph."""
        nodes = [find_grad_fn(tensor) for tensor in tensors]
        nearest_rows = [
            row
            for _, edge_rows in self._iter_nodes_with_edges_to_rows([node for node in nodes if node is not None])
            for _, row in edge_rows
        ]
        return list(dict.fromkeys(nearest_rows))

    def _iter_nodes_with_edges_to_rows(self, start_nodes: list) -> Iterable[tuple[Any, list]]:
        """Search the given nodes and their ancestors, and yield the nodes that have edges to rows.

        Each node is paired with the (edge number, row) pairs of its edges. The search stops at nodes that have rows.
        """
        seen = set(start_nodes)
        stack = list(start_nodes)
        while stack:
            node = stack.pop()
            edge_rows = []
            for edge_number, (next_node, output) in enumerate(node.next_functions):
                if next_node is None or next_node in seen:
                    continue
                row = self._find_node_output_row_or_add_leaf(next_node, output)
                if row is not None:
                    edge_rows.append((edge_number, row))
                else:
                    seen.add(next_node)
                    stack.append(next_node)
            if edge_rows:
                yield node, edge_rows

    def _find_node_output_row_or_add_leaf(self, node: Any, output_number: int) -> OptionalNumber:
        """Return the row of a node's output, or None if the output has no row.

        For a node that writes a leaf's ``.grad``, return the leaf's row, adding it if necessary.
        """
        rows_by_output = self._rows_by_node.get(node)
        if rows_by_output is not None:
            return rows_by_output.get(output_number)
        variable = getattr(node, "variable", None)  # Only nodes that write .grad have the attribute ``variable``.
        if variable is None:
            return None
        # The leaf may have changed in place since the node was created, but autograd still treats it as the same leaf.
        rows = self.log.list_leaf_rows(variable)
        return rows[-1] if rows else self.log.find_or_add_row(variable)

    # -- while a backward pass runs ----------------------------------------------------------------

    def record_backward_start(self, target_rows: RowList, function_name: str, site: Site) -> None:
        """Record that the program is starting a backward pass.

        Args:
            target_rows: The rows of the targets.
            function_name: The function that the program called, "backward" or "grad".
            site: The line of the call.
        """
        self.target_rows = target_rows
        self.function_name = function_name
        self.site = site
        self.is_running = True
        self.current_sweep = None

    def reset_state_after_backward(self) -> None:
        """Record that the backward pass has ended."""
        self.target_rows = []
        self.is_running = False
        self.current_sweep = None

    def _run_hook_safely(self, hook: Callable[..., None], *arguments: Any) -> None:
        """Run a hook and return nothing, so that the adjoint stays the same.

        An error in the hook ends the recording, and the program continues.
        """
        log = self.log
        if log.recording.internal_error is not None:
            return
        was_enabled = torch.is_grad_enabled()
        try:
            with torch._C.DisableTorchFunction():
                # no_grad() would leave gradients off if Ctrl-C interrupted its __enter__.
                torch._C._set_grad_enabled(False)
                hook(*arguments)
        except Exception as error:
            log.recording.store_first_internal_error_and_warn(error)
        finally:
            torch._C._set_grad_enabled(was_enabled)

    def _find_or_begin_current_sweep(self) -> BackwardPass:
        """Return the current backward pass, starting a new one if necessary.

        Each call by the program counts as one pass, even if a checkpoint runs other passes inside it.
        """
        task_id = self._task_id if self.is_running else torch._C._current_graph_task_id()
        if task_id != self._task_id or self.current_sweep is None:
            self._task_id = task_id
            self._partial_sums = {}
            self.current_sweep = self.log.recording.add_backward_pass(self.target_rows)
            self.current_sweep.function_name = self.function_name
            self.current_sweep.site = self.site
            self.current_sweep.keeps_graph = self.keeps_graph
        return self.current_sweep

    def _record_complete_adjoint(self, row: int, is_leaf: bool, adjoint: OptionalTensor) -> None:
        """Record the complete adjoint of a row."""
        if adjoint is None:  # The target does not depend on this result of the call.
            return
        sweep = self._find_or_begin_current_sweep()
        if not self.target_rows and not sweep.target:
            sweep.target.append(row)
        earlier_value: TorchValue | None = sweep.adjoints.get(row) if is_leaf else None
        # A nested pass, such as one run by a checkpoint, has already delivered part of the adjoint.
        earlier_adjoint = None if earlier_value is None else earlier_value.get_unchanged_tensor()
        summed_adjoint, value = self._partial_sums.pop(row, (None, None))
        if value is None or summed_adjoint is not adjoint or earlier_adjoint is not None:
            total = adjoint if earlier_adjoint is None else earlier_adjoint + adjoint
            # The adjoint of a leaf becomes .grad, and .grad may change later.
            value = self.log.kept_tensors.keep_value(total, must_copy=is_leaf)
        sweep.set_adjoint(row, value)

    def _record_adjoints_and_shares(
        self,
        output_rows: Iterable,
        call_row: int,
        input_ports: Iterable,
        products: tuple,
        adjoints: tuple,
    ) -> None:
        """Record the adjoints that arrived at a node, and the shares that the node sends on.

        Args:
            output_rows: The rows of the node's results, each given as (output number, row).
            call_row: The first row of the call.
            input_ports: The inputs to which the node sends shares, each given as (edge number, row, port).
            products: The shares that the node sends along its edges.
            adjoints: The adjoints that arrived at the node's outputs.
        """
        for output_number, row in output_rows:
            self._record_complete_adjoint(row, False, adjoints[output_number])
        sweep = self._find_or_begin_current_sweep()
        keep_value = self.log.kept_tensors.keep_value
        for edge_number, row, port in input_ports:
            if products[edge_number] is None:
                continue
            product = products[edge_number]
            earlier_sum, _ = self._partial_sums.get(row, (None, None))
            value = keep_value(product, must_copy=self.log.rows[row].kind != "operation")
            total = product if earlier_sum is None else earlier_sum + product
            self._partial_sums[row] = total, value if earlier_sum is None else None
            sweep.send(call_row, row, port, value, value if earlier_sum is None else keep_value(total))

    # -- afterwards --------------------------------------------------------------------------------

    def remove_hooks(self) -> None:
        """Remove all hooks to restore the tensors.

        If Ctrl-C interrupts this function, call it again.
        """
        for handle in self._hook_handles:
            handle.remove()
        for tensor, own_hook in self._leaf_hooks:
            hooks = tensor._backward_hooks or {}
            for key in [key for key, hook in hooks.items() if hook is own_hook]:
                del hooks[key]
            if not hooks:
                tensor._backward_hooks = None
        self._hook_handles = []
        self._leaf_hooks = []
        self._rows_by_node = {}
        self._partial_sums = {}


def find_grad_fn(tensor: Tensor) -> Any:
    """Return the autograd node that computed a tensor, or None if the tensor is a leaf or PyTorch raises an error."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # PyTorch raises this error for a view from a no_grad block whose base has changed.
        return None


def strip_node_name(node_name: str) -> str:
    """Return the name of an autograd node without its namespace, its "Backward" suffix and its number.

    >>> strip_node_name("MulBackward0"), strip_node_name("torch::autograd::CopySlices")
    ('Mul', 'CopySlices')
    """
    return re.sub(r"(Backward)?\d*$", "", node_name.rpartition("::")[2])


def build_function_taking_next_port_of_input(recorded_row: RecordedRow) -> Callable[[int], int]:
    """Build a function that maps a row to the next position at which the row appears among a call's inputs.

    The function returns the row's first position when it first receives the row, then the second position, and so on.
    If no position is left, the function appends the row to the inputs.

    Args:
        recorded_row: The row of the call's first result.
    """
    waiting_positions: dict[int, list] = {}
    for position, input_row in enumerate(recorded_row.inputs):
        waiting_positions.setdefault(input_row, []).append(position)

    def take_next_port_of_input(row: int) -> int:
        positions = waiting_positions.get(row)
        if positions:
            return positions.pop(0)
        # The arguments of the call did not contain this input. It may be a hidden state.
        recorded_row.inputs = [*recorded_row.inputs, row]
        return len(recorded_row.inputs) - 1

    return take_next_port_of_input
