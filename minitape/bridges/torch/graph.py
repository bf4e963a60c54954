"""Autograd's nodes and the recording's rows: hooks read what passes through them in a backward pass, and change
nothing.
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch

from ...recording.rows import BackwardPass
from ...recording.sites import NOWHERE, Site
from ..recording import RecordingEntry


class TorchGraph:
    """Hooks on the tensors and nodes of a recording."""

    def __init__(self, log: Any) -> None:
        self.log = log
        self.asked: list[int] = []  # rows from which the backward pass that runs was asked
        self.by = ""  # and by which function: backward or grad
        self.site: Site = NOWHERE  # and on which line
        self.running = False
        self._nodes: dict[Any, dict[int, int]] = {}  # node of autograd -> output -> row
        self._handles: list = []
        self._leaves: list[tuple] = []  # the hooks on leaves
        self._task = -1
        self._sweep: BackwardPass | None = None
        # adjoints so far, of rows to which something was sent; with what is kept of it, of what was sent alone
        self._sums: dict[int, tuple[torch.Tensor, Any]] = {}

    # -- while the program runs --------------------------------------------------------------------

    def watch(self, tensor: torch.Tensor, row: int) -> None:
        """Reads the adjoint of a result when it is complete."""
        self._handles.append(tensor.register_hook(partial(self._guarded, partial(self._arrive, row, False))))

    def watch_leaf(self, tensor: torch.Tensor) -> None:
        """The same for a leaf, once: it may have several rows, one for each state."""
        ref = weakref.ref(tensor)

        def arrive(adjoint: torch.Tensor) -> None:
            leaf = ref()
            rows = [] if leaf is None else self.log.leaf_rows(leaf)
            self._now()
            for row in [row for row in rows if row in self._sums] or rows[-1:]:
                self._arrive(row, True, adjoint)

        hook = partial(self._guarded, arrive)
        self._leaves.append((tensor, hook))
        tensor.register_hook(hook)

    def read_last(self, tensor: torch.Tensor) -> None:
        """The program put a hook on a tensor, and may change the adjoint there: it is read behind that."""
        hooks = tensor._backward_hooks or {}
        for key, hook in [*hooks.items()]:
            if isinstance(hook, partial) and hook.func == self._guarded:
                hooks[key] = hooks.pop(key)

    def connect(self, rows: list[int], outputs: list[torch.Tensor]) -> None:
        """Reads what the call that made ``outputs`` sends back to the rows that it read."""
        own = []
        for row, tensor in zip(rows, outputs, strict=True):
            node = node_of(tensor)
            if node is not None:
                own.append(node)
                self._nodes.setdefault(node, {})[tensor.output_nr] = row
                self.watch(tensor, row)
        if own:
            entries = [self.log.entries[row] for row in rows]
            port_of = ports_of(entries[0])
            for node, ends in self._borders(own):
                ports = [(k, row, port_of(row)) for k, row in ends]
                self._handles.append(node.register_hook(partial(self._guarded, partial(self._sent, rows[0], ports))))
            for entry in entries[1:]:
                entry.inputs = entries[0].inputs

    def rows_behind(self, tensors: Iterable[torch.Tensor]) -> list[int]:
        """The nearest rows on which autograd knows these to depend."""
        nodes = [node_of(tensor) for tensor in tensors]
        found = [row for _, ends in self._borders([node for node in nodes if node is not None]) for _, row in ends]
        return list(dict.fromkeys(found))

    def _borders(self, own: list) -> Iterable[tuple[Any, list]]:
        """Nodes behind ``own`` from which an edge leads to a row, each with (number of the edge, row)."""
        seen, stack = set(own), list(own)
        while stack:
            node = stack.pop()
            ends = []
            for k, (following, output) in enumerate(node.next_functions):
                if following is None or following in seen:
                    continue
                row = self._row_at(following, output)
                if row is not None:
                    ends.append((k, row))
                else:
                    seen.add(following)
                    stack.append(following)
            if ends:
                yield node, ends

    def _row_at(self, node: Any, output: int) -> int | None:
        found = self._nodes.get(node)
        if found is not None:
            return found.get(output)
        variable = getattr(node, "variable", None)  # of the nodes that write .grad
        if variable is None:
            return None
        # a change in place since then is no matter: it is the same leaf for autograd
        rows = self.log.leaf_rows(variable)
        return rows[-1] if rows else self.log.row_of(variable)

    # -- while a backward pass runs ----------------------------------------------------------------

    def begin(self, asked: list[int], by: str, site: Site) -> None:
        """The program asks for a backward pass."""
        self.asked, self.by, self.site, self.running, self._sweep = asked, by, site, True, None

    def end(self) -> None:
        """It has ended."""
        self.asked, self.running, self._sweep = [], False, None

    def _guarded(self, read: Callable[..., None], *arguments: Any) -> None:
        """Runs a hook. It gives nothing back, so that nothing changes, and no mistake of its own stops the program."""
        log = self.log
        if log.recording.failure is not None:
            return
        enabled = torch.is_grad_enabled()
        try:
            with torch._C.DisableTorchFunction():
                torch._C._set_grad_enabled(False)  # no_grad() would leave it so where Ctrl-C comes into its __enter__
                read(*arguments)
        except Exception as error:
            log.recording.fail(error)
        finally:
            torch._C._set_grad_enabled(enabled)

    def _now(self) -> BackwardPass:
        """The backward pass that runs: one for each call of the program's, although a checkpoint's has others
        inside.
        """
        task = self._task if self.running else torch._C._current_graph_task_id()
        if task != self._task or self._sweep is None:
            self._task, self._sums = task, {}
            self._sweep = self.log.recording.sweep(self.asked)
            self._sweep.asked, self._sweep.site = self.by, self.site
        return self._sweep

    def _arrive(self, row: int, leaf: bool, adjoint: torch.Tensor | None) -> None:
        if adjoint is None:  # of one of several results: the target does not depend on it
            return
        sweep = self._now()
        if not self.asked and not sweep.target:
            sweep.target.append(row)
        before = sweep.adjoints.get(row) if leaf else None
        earlier = None if before is None else before.current()  # a pass inside brought a part of it
        sent, kept = self._sums.pop(row, (None, None))
        if kept is None or sent is not adjoint or earlier is not None:
            total = adjoint if earlier is None else earlier + adjoint
            kept = self.log.keeper.keep(total, copy=leaf)  # a leaf's becomes .grad, which changes
        sweep.arrive(row, kept)

    def _sent(self, call: int, ports: list[tuple], products: tuple, _: Any) -> None:
        """A call sends products to its inputs."""
        sweep, keep = self._now(), self.log.keeper.keep
        for k, row, port in ports:
            if products[k] is None:
                continue
            product, (before, _) = products[k], self._sums.get(row, (None, None))
            kept = keep(product, copy=self.log.entries[row].kind != "operation")
            total = product if before is None else before + product
            self._sums[row] = total, kept if before is None else None
            sweep.send(call, row, port, kept, kept if before is None else keep(total))

    # -- afterwards --------------------------------------------------------------------------------

    def release(self) -> None:
        """Takes away all hooks; leaves are as they were. It may be called again where Ctrl-C came."""
        for handle in self._handles:
            handle.remove()
        for tensor, ours in self._leaves:
            hooks = tensor._backward_hooks or {}
            for key in [key for key, hook in hooks.items() if hook is ours]:
                del hooks[key]
            if not hooks:
                tensor._backward_hooks = None
        self._handles, self._leaves = [], []
        self._nodes, self._sums = {}, {}


def node_of(tensor: torch.Tensor) -> Any:
    """The node of autograd that computed a tensor; None for a leaf, and where PyTorch refuses to say it."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # a view from a no_grad block whose base has been changed
        return None


def plain_node(name: str) -> str:
    """The name of an autograd node without what all have.

    >>> plain_node("MulBackward0"), plain_node("torch::autograd::CopySlices")
    ('Mul', 'CopySlices')
    """
    return re.sub(r"(Backward)?\d*$", "", name.rpartition("::")[2])


def ports_of(entry: RecordingEntry) -> Callable[[int], int]:
    """A function that returns, at each call with a row, the number of the next input at which the row is used."""
    taken: Counter[int] = Counter()

    def port(row: int) -> int:
        places = [k for k, given in enumerate(entry.inputs) if given == row]
        if taken[row] >= len(places):  # an input that the arguments do not show, such as a hidden state
            entry.inputs.append(row)
            places.append(len(entry.inputs) - 1)
        taken[row] += 1
        return places[taken[row] - 1]

    return port
