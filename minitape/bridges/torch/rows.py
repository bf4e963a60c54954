"""The rows of a recording of PyTorch: which row stands for which tensor, and a new one for what was computed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

from ...recording.sites import NOWHERE, Site, here, way_here
from ..kept_values import Noted
from ..recording import MOST
from .graph import TorchGraph, node_of, plain_node
from .history import TorchHistory
from .training import Training
from .value import Keeper, storage_of, version_of

LABELS = dict(
    pair.split()
    for pair in (
        "add +|sub −|rsub −|mul ×|div ÷|truediv ÷|true_divide ÷|rdiv ÷|rtruediv ÷|matmul @|mm @|bmm @|neg −x|"
        "pow xʸ|rpow xʸ|square x²|sqrt √|sum Σ|iadd +|isub −|imul ×|itruediv ÷"
    ).split("|")
) | {"getitem": "[ ]", "setitem": "[ ] ="}


class TorchExtra:
    """What explain asks about a row of PyTorch."""

    __slots__ = "ref why node came custom way".split()

    def __init__(self, tensor: torch.Tensor, why: str = "", came: Sequence[int] = (), way: Sequence[Site] = ()) -> None:
        self.ref = weakref.ref(tensor)
        self.why = why  # why no gradient passes
        self.came = came  # rows with whose values a leaf was made
        self.way = way  # of what ran where gradients are off the statements that ran, the outermost first
        node = node_of(tensor)
        self.node = "" if node is None else node.name()
        # of a Function with a backward() of its own
        self.custom = type(node)._forward_cls.backward if isinstance(node, BackwardCFunction) else None


class TorchLog:
    """Writes the rows of a recording."""

    def __init__(self, recording: Any) -> None:
        self.recording = recording
        self.entries = recording.entries
        self.keeper = Keeper()
        self.graph = TorchGraph(self)
        self.training = Training()
        self.history = TorchHistory()
        self.scope: tuple[str, ...] = ()
        # rows of what was computed before the block, or by C++ alone: their line is that of the first use
        self.unseen: set[int] = set()
        self.changes: list[tuple[int, int]] = []  # rows before and after a change in place
        self.clearings: Noted[tuple[Site, int]] = Noted()  # where .grad was set to None, and after how many sweeps
        self.inside: Noted[Site] = Noted()  # where what is not recorded, as under torch.func, used a tensor
        self.gradients: Noted[tuple] = Noted()  # .grad that the program read, and the targets
        self._known: Noted[tuple[int, int]] = Noted()  # which row stands for a tensor, in which version of it
        self._rows: Noted[list[int]] = Noted()  # all rows that stood for a tensor
        self._leaves: dict[int, Callable[[], torch.Tensor | None]] = {}  # those that require grad, by their memory
        self._made: Noted[tuple] = Noted()  # leaves whose values were computed
        # where a function that takes no tensors made one, or a parameter was made: its line is known when it is used
        self.born: Noted[Site] = Noted()

    # -- which row ---------------------------------------------------------------------------------

    def row_now(self, tensor: torch.Tensor) -> int | None:
        """The row of a tensor in its present version; None if it has none."""
        row, version = self._known.get(tensor, (None, 0))
        return row if version == version_of(tensor) else None

    def row_of(self, tensor: torch.Tensor) -> int:
        """The same; a new row for a leaf, or for what was computed unseen."""
        row = self.row_now(tensor)
        if row is not None:
            return row
        return self._leaf(tensor) if node_of(tensor) is None else self._unseen(tensor)

    def rows_of(self, tensor: torch.Tensor) -> list[int]:
        """All rows that stood for a tensor, in order."""
        return self._rows.get(tensor, [])

    def is_new(self, tensor: torch.Tensor) -> bool:
        """Whether it is a leaf that was not used yet, where gradients are off."""
        return not (torch.is_grad_enabled() or tensor.grad_fn or self.rows_of(tensor))

    def leaf_rows(self, tensor: torch.Tensor) -> list[int]:
        """Those in which it was a leaf: one for each of its states that were used."""
        return [row for row in self.rows_of(tensor) if self.entries[row].kind != "operation"]

    def forget(self, tensor: torch.Tensor) -> None:
        """From now on another row stands for it."""
        self._known.forget(tensor)

    def remember(self, tensor: torch.Tensor, row: int) -> None:
        """This row stands for a tensor."""
        self._known[tensor] = row, version_of(tensor)
        self._rows.setdefault(tensor, []).append(row)

    def note_created(self, tensor: torch.Tensor) -> None:
        """Notes that a function without tensor arguments, or a parameter's class, created this tensor."""
        self.born[tensor] = here()

    def is_from_before(self, row: int) -> bool:
        """Whether a leaf was made before the block."""
        tensor = self.entries[row].extra.ref()
        return tensor is not None and self.entries[row].kind != "operation" and self.born.get(tensor) is None

    def note_inside(self, tensors: Iterable[torch.Tensor]) -> None:
        """A function that torch.func transforms, or a Function of the program's own, used these: what happens there is
        not recorded.
        """
        for tensor in tensors:
            if tensor.requires_grad and (tensor.is_leaf or self.rows_of(tensor)):
                self.inside[tensor] = here()

    def note_leaf_values(self, tensor: torch.Tensor, given: Iterable[torch.Tensor], why: str) -> None:
        """Notes that the values of a leaf came from other tensors: ``nn.Parameter(t)``, ``w.data = t``, ``w.copy_(t)``
        under no_grad.
        """
        rows = [row for t in given if t is not tensor and (row := self.row_now(t)) is not None]
        rows = [
            row for row in rows if (why == "wrapped" and self.entries[row].differentiable) or self._is_computed(row)
        ]
        if rows:
            self._made[tensor] = why, rows, here()

    def _is_computed(self, row: int) -> bool:
        """Whether a value is more than a copy of a leaf, and no step of an optimizer, which is computed with
        gradients.
        """
        stack, seen = [row], set()
        while stack:
            at = stack.pop()
            entry = self.entries[at]
            if entry.extra.why == "create_graph":
                return False
            if at not in seen and not entry.differentiable:
                seen.add(at)
                stack += entry.inputs
        entry = self.entries[row]
        return entry.kind == "operation" and not (
            entry.extra.why in ("data", "detach") and self.entries[entry.inputs[0]].kind != "operation"
        )

    def leaf_behind(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The leaf whose memory a tensor is: itself, or what ``.data`` and ``detach()`` gave of it."""
        leaf = self._leaves.get(storage_of(tensor), lambda: None)()
        alike = leaf is not None and leaf.requires_grad and node_of(leaf) is None
        return leaf if alike and leaf is not None and storage_of(leaf) == storage_of(tensor) else None

    def gradient_read(self, gradient: torch.Tensor, targets: list[int]) -> None:
        """The program read a .grad: who computes with it goes on from what those targets were computed from."""
        if targets and self.row_now(gradient) is None:
            self.gradients[gradient] = targets, here()

    @property
    def full(self) -> bool:
        """True when no more rows are written."""
        return len(self.entries) >= MOST

    # -- new rows ----------------------------------------------------------------------------------

    def _leaf(self, tensor: torch.Tensor, why: str = "", came: Sequence[int] = ()) -> int:
        site = self.born.get(tensor) or here()
        kind = (
            "variable" if isinstance(tensor, torch.nn.Parameter) else "source" if tensor.requires_grad else "constant"
        )
        earlier = self.leaf_rows(tensor)
        if not came:
            why, came, site = self._made_of(tensor, site)
        latest = self.rows_of(tensor)[-1:]
        if latest and self.entries[latest[0]].kind == "operation":  # a result that became a leaf by requires_grad_()
            came = latest
        row = self.recording.leaf(
            self.keeper.keep(tensor, copy=True),
            kind=kind,
            version=len(earlier),
            site=site,
            dtype=dtype_of(tensor),
            shape=tensor.shape,
            differentiable=tensor.requires_grad,
            extra=TorchExtra(tensor, why, came),
        )
        self.remember(tensor, row)
        if tensor.requires_grad and not any(self.entries[r].differentiable for r in earlier):
            self._leaves[storage_of(tensor)] = weakref.ref(tensor)
            self.graph.watch_leaf(tensor)
        return row

    def _made_of(self, tensor: torch.Tensor, site: Site) -> tuple[str, Sequence[int], Site]:
        """Why a leaf has no history, and the rows with whose values it was made."""
        read = self.gradients.get(tensor)
        return ("create_graph", *read) if read is not None else self._made.get(tensor, ("", (), site))

    def _unseen(self, tensor: torch.Tensor) -> int:
        """A row for a tensor that autograd knows and the recording does not: made before the block, or by C++ alone."""
        rows = self.graph.rows_behind([tensor])
        row = self.write(plain_node(tensor.grad_fn.name()), rows, [tensor])[0]
        self.unseen.add(row)
        return row

    def write(
        self, op: str, inputs: list[int], outputs: list[torch.Tensor], why: str = "", site: Site = NOWHERE
    ) -> list[int]:
        """Rows for the results of a call."""
        site = here() if site is NOWHERE else site
        on_way = any(self.entries[row].differentiable for row in inputs)
        name = op.strip("_") or op
        label = LABELS.get(name, name)
        rows: list[int] = []
        for number, tensor in enumerate(outputs):
            # a view that no_grad made: it says that it requires grad, and has no history
            hidden = tensor._is_view() and not torch.is_grad_enabled()
            # a new leaf: torch.tensor(t, requires_grad=True)
            if tensor.requires_grad and not hidden and node_of(tensor) is None:
                rows.append(self._leaf(tensor, why, inputs))
                continue
            differs = tensor.requires_grad and not hidden
            reason = "" if differs else self._reason(tensor, why, on_way)
            row = self.recording.operation(
                name,
                inputs,
                self.keeper.keep(tensor),
                label=label,
                call=rows[0] if rows else None,
                output=number,
                site=site,
                dtype=dtype_of(tensor),
                shape=tensor.shape,
                scope=self.scope,
                cut=CUTS.get(reason) if on_way else None,
                differentiable=differs,
                extra=TorchExtra(tensor, reason, way=way_here() if on_way and reason in PAUSES else ()),
            )
            self.remember(tensor, row)
            rows.append(row)
        self.graph.connect(rows, outputs)
        return rows

    def _reason(self, tensor: torch.Tensor, why: str, on_way: bool) -> str:
        """Why a result has no gradient; empty for what is computed from constants, and would have one otherwise."""
        if why:
            return why
        if tensor.is_inference():
            return "inference_mode"
        if not torch.is_grad_enabled():
            return "no_grad"
        return "no_derivative" if on_way or not differentiable(tensor.dtype) else ""

    def leave(self, tensor: torch.Tensor, how: str) -> None:
        """A value leaves PyTorch."""
        self.recording.leave(self.row_of(tensor), how, here())

    def assigned(self, tensor: torch.Tensor) -> None:
        """A leaf was given new values, by an optimizer or in place."""
        self.forget(tensor)
        event = {"kind": "assign", "name": self.history.name_of(tensor), "line": here()[1]}
        rows = self.leaf_rows(tensor)
        self.recording.events.append(event | ({"from": rows[-1]} if rows else {}))


PAUSES = ("no_grad", "inference_mode")  # blocks, or functions, in which autograd writes nothing
CUTS = {
    "detach": "stop_gradient",
    "data": "stop_gradient",
    "copied": "stop_gradient",
    "no_grad": "paused",
    "inference_mode": "paused",
    "create_graph": "paused",
    "integer_cast": "integer",
    "no_derivative": "nondifferentiable",
}


def differentiable(dtype: torch.dtype) -> bool:
    """Whether gradients flow through values of this dtype."""
    return dtype.is_floating_point or dtype.is_complex


def dtype_of(tensor: torch.Tensor) -> str:
    """The name without "torch."."""
    return str(tensor.dtype).removeprefix("torch.")
