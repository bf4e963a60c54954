"""Why a ``.grad`` of PyTorch is None, zero or NaN: from the rows of a recording, and from what autograd sent back."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from typing import Any

import torch

from ..explain.fixes.dialects import TORCH
from ..explain.owners import living
from ..explain.sentences import fill
from ..explain.source import attribute_site, sources_of, statement_at
from ..explain.statement import Statement, last_name, unparse
from ..explain.value_texts import TENSOR
from ..explain.words import Explanation
from ..recording.rows import BackwardPass, RowExit
from ..recording.sites import NOWHERE, Site, last_return, text_of
from .inquiry import Inquiry, Reasons, left_by
from .recording import Number
from .torch_log import differentiable, dtype_of
from .torch_texts import CLASSES, FUNCTIONS, HIDES, SAMPLES, SPREADS, TEXT, ZEROS
from .torch_value import array_of

_FREEZES = re.compile(r"\.requires_grad(_\(| = )False")
_CHANGED = re.compile(r"output \d+ of (\w+), is at version \d+")


class TorchInquiry(Inquiry):
    """One question."""

    dialect = TORCH
    texts, functions, zeros, classes, unused = TEXT, FUNCTIONS, ZEROS, CLASSES, "unused"

    def __init__(self, recording: Any, target: Any, source: Any) -> None:
        self.log = recording.log
        rows = self.log.rows_of(source) if isinstance(source, torch.Tensor) else []
        known = self.log.name_of(source) if isinstance(source, torch.Tensor) else "tensor"
        super().__init__(recording, target, source, rows, TENSOR if known == "tensor" else known)

    def checks(self) -> Reasons:
        """What may have happened in PyTorch."""
        if not isinstance(self.source, torch.Tensor):
            raise TypeError(f"explain() takes a tensor as its source, but received {self.source!r}.")
        if self.target is None:
            return self._error, self._own, self._none_ran
        return (
            self._error,
            self._plain_target,
            self._own,
            self._break,
            self._outside,
            self._not_used,
            self._grad,
            self._nan,
            self._zero,
        )

    def parts_of(self, holder: Any) -> Iterable[tuple[str, Any]]:
        if not isinstance(holder, torch.nn.Module):
            return super().parts_of(holder)
        held = [
            (name, value)
            for slot in ("_parameters", "_buffers", "_modules")
            for name, value in vars(holder)[slot].items()
        ]
        keys = isinstance(holder, (torch.nn.ModuleDict, torch.nn.ParameterDict))
        return [
            *(
                (f"[{name}]" if name.isdigit() else f"[{name!r}]" if keys else f".{name}", value)
                for name, value in held
            ),
            *super().parts_of(holder),
        ]

    def _looks_into(self, holder: Any) -> bool:
        return isinstance(holder, torch.nn.Module) or super()._looks_into(holder)

    def called_by_program(self, row: int) -> str:
        """What the program calls the tensor of a row; its module's name for it where that is unknown."""
        tensor = self.entries[row].extra.ref()
        return ("" if tensor is None else self.path_to(tensor)) or self.entries[row].name or ""

    # -- checks: why nothing arrives ---------------------------------------------------------------

    def _plain_target(self) -> Explanation | None:
        if isinstance(self.target, (torch.Tensor, Number)):
            return None
        left = self._exits()
        return self._left_by(left[-1]) if left else self.say("not_tensor", what=type(self.target).__name__)

    def _none_ran(self) -> Explanation:
        """No backward pass ran: the program calls it on a number that left, or nowhere."""
        for exit in self.exits:
            start = statement_at(exit.site) if exit.row in self._after() else None
            flow = None if start is None else self._followed().of(start, None, frozenset([start.filename]))
            if flow is not None and any(
                flow.enters(s, n.func)
                for s in flow.start.source.statements
                for n in s.walk()
                if isinstance(n, ast.Call) and last_name(n.func) == "backward"
            ):
                return self._left_by(exit)
        return self.say("no_backward", kind="none")

    def _error(self) -> Explanation | None:
        """A backward pass ended in an error that a place in the program explains."""
        if self.recording.error is None:
            return None
        error, site = self.recording.error
        text = str(error)
        if "modified by an inplace operation" in text:
            return self._changed(text)
        if "leaf Variable" in text:
            return self.say("in_place", site, what=fill("The assignment"), kind="leaf")
        if "second time" in text:
            return self.say("backward_twice", site)
        if "is not implemented" in text:
            row = next(
                (row for row in sorted(self.behind) if self.entries[row].extra.node.endswith("NotImplemented")), None
            )
            return None if row is None else self.say("no_derivative", row=row)
        if "only for scalar outputs" in text:
            return self.say(
                "not_scalar",
                site,
                what=str(math.prod(self.entries[self.end].shape)) if self.end is not None else fill("several"),
            )
        return None

    def _changed(self, text: str) -> Explanation:
        found = _CHANGED.search(text)
        for before, after in reversed(self.log.changes):
            nodes = [_plain(self.entries[row].extra.node) for row in (after, before)]
            if found is not None and _plain(found[1]) in nodes and (before in self.behind or after in self.behind):
                return self.say("in_place", row=after)
        assigned = [event for event in self.recording.events if event["kind"] == "assign"]
        changed = [after for before, after in self.log.changes if before in self.behind or after in self.behind]
        if changed and not assigned:
            return self.say("in_place", row=changed[-1])
        file = self.entries[self.end].site[0] if self.end is not None else None
        return self.say("in_place", (file, assigned[-1]["line"]) if assigned else NOWHERE, kind="parameter")

    def _own(self) -> Explanation | None:
        """The source cannot have a gradient."""
        first = self.used[0] if self.used else None
        if not differentiable(self.source.dtype):
            return self.say("integer_dtype", self.log.frozen_at(self.source), row=first, what=dtype_of(self.source))
        requires = self.source.requires_grad
        if (
            requires
            and first is not None
            and not self.entries[first].extra.requires
            and self.entries[first].kind != "operation"
        ):
            reader = next((row for row in sorted(self.behind) if first in self.entries[row].inputs), first)
            site = self._use_before(self.log.required_at(self.source), reader)
            late = self.say("requires_grad", site, row=reader, kind="late")
            late.intended = False
            return late
        if requires:
            return None
        made = next((row for row in self.rows if self.entries[row].kind == "operation"), None)
        if (
            made is not None
            and self.entries[made].extra.why
            and any(self.entries[given].differentiable for given in self.entries[made].inputs)
        ):
            cause = CAUSES.get(self.entries[made].extra.why, self.entries[made].extra.why)
            return self.say(cause, row=made, kind="source" if cause == "no_grad" else "")
        if unfrozen := self._attribute_only():
            return unfrozen
        site = self.log.frozen_at(self.source)
        return self.say(
            "requires_grad",
            self._frozen(first) if site is NOWHERE and made is None and first is not None else site,
            row=first if made is None else made,
        )

    def _attribute_only(self) -> Explanation | None:
        """The program wrote ``module.requires_grad = True``, which is an attribute like any other."""
        modules = {inner for root in self.log.roots() for inner in root.modules()}
        holders = [m for m in modules if vars(m).get("requires_grad") and any(p is self.source for p in m.parameters())]
        if not holders:
            return None
        files = {entry.site[0] for entry in self.entries if entry.site[0]}
        statements = (s for source in sources_of(files) for s in source.statements)
        sets = [(s, name) for s in statements for name in s.binds() if name.endswith(".requires_grad")]
        sets = [(s, name) for s, name in sets if unparse(s.node).endswith("= True")]
        known = [f"{self.path_to(module)}.requires_grad" for module in holders]
        sets = [(s, name) for s, name in sets if name in known] or sets
        statement, name = sets[0] if len(sets) == 1 else (None, "module.requires_grad")
        site = NOWHERE if statement is None else (statement.filename, statement.line)
        found = self.say("requires_grad", site, other=name.rpartition(".")[0], kind="attribute")
        found.intended = False
        return found

    def _use_before(self, site: Site, row: int) -> Site:
        """The line that uses the source, or calls what does, before requires_grad is set where the same names hold."""
        at = statement_at(site)
        name = (
            ""
            if at is None
            else unparse(at.targets()[0]).removesuffix(".requires_grad")
            if at.targets()
            else unparse(getattr(at.node, "value", at.node)).partition(".requires_grad_(")[0]
        )
        uses = (
            []
            if at is None
            else [
                s
                for s in at.source.statements
                if s.function is at.function and s.order < at.order and s.computes_with(name)
            ]
        )
        return (uses[0].filename, uses[0].line) if uses else self.entries[row].site

    def _frozen(self, row: int) -> Site:
        """The line that froze the source, or made it, before the block, as far as the text tells."""
        use = statement_at(self.entries[row].site)
        known = [] if use is None or not isinstance(self.source, torch.nn.Parameter) else use.source.statements
        sets = [s for s in known if not hasattr(s.node, "body") and _FREEZES.search(unparse(s.node))]
        if len(sets) == 1:
            return sets[0].filename, sets[0].line
        # clf.emb.weight: the module that has it is called emb where it is made
        holder = self.path.rpartition(".")[0].rpartition(".")[2]
        made = [s for s in known if s.calls("from_pretrained") and holder in (n.rpartition(".")[2] for n in s.binds())]
        return (made[0].filename, made[0].line) if len(made) == 1 else self._made(row)

    def _break(self) -> Explanation | None:
        found, new = super()._break(), self.log.replaced_at(self.source)[1]
        mine = self.log.rows_of(new) if isinstance(new, torch.Tensor) else []
        made_of_it = found is not None and any(row in mine for answer in (found, *found.others) for row in answer._rows)
        return self._replaced() if made_of_it else found

    def _broken(self, row: int) -> Explanation:
        why = self.entries[row].extra.why
        at = statement_at(self.entries[row].site)
        hides = next((name for name in HIDES if at is not None and at.calls(name)), "")
        if hides:
            return self._copied() or self.say(CAUSES.get(why, why), row=row, what=hides, kind="hidden")
        if why == "no_grad" and at is not None and at.calls("sample") and not at.within("no_grad", "inference_mode"):
            drawn = self.say("no_grad", row=row, what="sample", kind="drawn")
            drawn._rows += [
                entry.row for entry in self.entries if entry.site == self.entries[row].site and entry.row != row
            ]
            return drawn
        switches = (s for s in reversed(at.around if at is not None else ()) if s.calls("set_grad_enabled"))
        switch = next(switches, None) if why == "no_grad" else None
        given = [] if switch is None else [n for n in switch.walk() if isinstance(n, ast.Call) and n.args]
        if switch is not None and given and not isinstance(given[0].args[0], ast.Constant):
            return self.say(why, (switch.filename, switch.line), row=row, other=unparse(given[0]), kind="switched")
        copies = [
            name for name in ("tensor", "as_tensor", "FloatTensor", "Tensor") if at is not None and at.calls(name)
        ]
        what = (
            {"create_graph": ".grad", "no_grad": fill("The assignment"), "copied": next(iter(copies), "tensor")}.get(
                why, ""
            )
            if self.entries[row].kind != "operation"
            else ""
        )
        return self.say(CAUSES.get(why, why), row=row, kind=why if why in ("wrapped", "inside") else "", what=what)

    def _left_by(self, exit: RowExit) -> Explanation:
        if exit.how == "__bool__":
            return self.say("branch", exit.site, row=exit.row)
        return self.say("left_torch", exit.site, row=exit.row, what=left_by(exit.how))

    def _instead(self) -> Explanation | None:
        made_of = [] if self.rows or self.source.is_leaf else leaves_of(self.source)
        if any(self.behind.intersection(self.log.rows_of(leaf)) for leaf in made_of):
            return self.say(
                "non_leaf",
                kind="anew",
                other=fill(" and ").join(filter(None, map(self.path_to, made_of))) or fill("its leaves"),
            )
        if not self.rows and any(row in self.log.unseen for row in self.behind):
            return self._replaced() or self.say("unknown", kind="before")
        return self._replaced() if isinstance(self.source, torch.nn.Parameter) else None

    def _never_read(self) -> Explanation:
        """The same; where nothing was computed with its whole layer, the line that gives it to the model."""
        paths = ((r, path.split(".")) for r in self.log.roots() for path, p in r.named_parameters() if p is self.source)
        root, (*parts, _) = next(paths, (torch.nn.Module(), [""]))
        layer = ".".join(parts)
        if not any(self.behind.intersection(self.log.rows_of(p)) for p in root.get_submodule(layer).parameters()):
            for end in range(len(parts), 0, -1):
                site = attribute_site(root.get_submodule(".".join(parts[: end - 1])), parts[end - 1])
                if site is not NOWHERE:
                    return self.say("unused", site, what=layer, kind="layer")
        return super()._never_read()

    def _replaced(self) -> Explanation | None:
        """Another parameter was used: a layer that is only unused is alive."""
        site, _ = self.log.replaced_at(self.source)
        if site is not NOWHERE:
            return self.say("rebound", site, kind="replaced")
        if copied := self._copied():
            return copied
        gone = not any(ref() is self.source for ref in self.log.alone) and self._lost_its_module(self.source)
        leaves = [
            self.entries[row]
            for row in sorted(self.behind)
            if self.entries[row].kind != "operation" and self.entries[row].differentiable
        ]
        alike = next((leaf.row for leaf in leaves if leaf.shape == tuple(self.source.shape)), None)
        held = any(p is self.source for root in self.log.roots() for p in root.parameters())
        if alike is not None and (gone or (not held and self._has_its_values(alike))):
            return self._rebound(alike)
        before = None if alike is None else self.entries[alike].extra.ref()
        if before is not None and self.log.names.get(before) and self._lost_its_module(before):
            return self.say("rebound", self.log.born_at(self.source)[1][-1], kind="after")
        last = max(
            (row for row in self.behind if self.entries[row].kind == "variable"),
            key=lambda row: (self._birth(row)[0], -row),
            default=None,
        )
        return (
            self._rebound(last, "gone")
            if gone and last is not None and self.log.name_of(self.source) == "tensor"
            else None
        )

    def _copied(self) -> Explanation | None:
        """A deep copy of the source was used."""
        made = (self.log.copied_at(row, self.source) for row in sorted(self.behind))
        site = next((site for site in made if site is not NOWHERE), NOWHERE)
        return None if site is NOWHERE else self.say("rebound", site, kind="copied")

    def _rebound(self, row: int, kind: str = "") -> Explanation:
        """Another parameter was used: where it was made, or used for the first time."""
        return self.say(
            "rebound", self._birth(row)[1], row=row, other=self.called_by_program(row) or fill("a parameter"), kind=kind
        )

    def _birth(self, row: int) -> tuple[int, Site]:
        """The how many-th parameter a row is, and the statement that keeps it: a helper's own, where the call of the
        helper keeps nothing.
        """
        number, way = self.log.births.get(row, (-1, [NOWHERE]))
        return number, next((site for site in way if (at := statement_at(site)) is None or not is_alone(at)), way[-1])

    def _has_its_values(self, row: int) -> bool:
        value = self.entries[row].value.array()
        return value is not None and bool((value == array_of(self.source)).all())

    def _lost_its_module(self, parameter: torch.Tensor) -> bool:
        """Whether no module that is alive has a parameter."""
        return not any(p is parameter for m in living(torch.nn.Module) for p in m._parameters.values())

    # -- checks: what arrived ----------------------------------------------------------------------

    def _grad(self) -> Explanation | None:
        """The gradient did not become .grad."""
        sweep = self.sweep
        if sweep is None:
            return self.say("no_backward")
        row = next((row for row in self.used if row in sweep.adjoints), None)
        if row is None:
            row = self._stopped()
            return self.say("unused") if row is None else self._own_rule(row)
        asked = sweep.asked
        call = (
            statement_at(sweep.site) if asked == "grad" and self.source.is_leaf and self.source.grad is None else None
        )
        if call is not None and (
            is_alone(call, "grad")
            or not call.is_read()
            or self.log.steps_without.get(self.source, -1) > self.recording.sweeps.index(sweep)
        ):
            return self.say("grad_returned", sweep.site)
        if not self.source.is_leaf and not self.source.retains_grad and asked != "grad":
            return self.say("non_leaf", self._made(row), row=row)
        if self.source.is_leaf and self.source.grad is None:
            cleared, after = self.log.clearings.get(self.source, (NOWHERE, -1))
            if after > self.recording.sweeps.index(sweep):
                return self.say("grad_cleared", cleared, row=row)
            if row in self.log.hooks and asked != "grad":  # which ran when .grad was written
                return self.say("grad_cleared", self.log.hooks[row], row=row)
        return self._filled(sweep, row)

    def _made(self, row: int) -> Site:
        """The line that computed the source; what ran before the block was not seen, and the text tells."""
        site = self.entries[row].site
        use = statement_at(site) if row in self.log.unseen or self.log.is_from_before(row) else None
        if use is None:
            return site
        made = [
            s
            for text in (self.path, self.path.partition("[")[0] if self.path.endswith("]") else "")
            for s in use.source.bound_by(text, use)
            if s is not use and (s.before(use) or s.function is not use.function)
        ]
        path, holder = self.path_and_holder(self.source)
        own = f"self.{path.rpartition('.')[2]}"  # in the text of its class
        made = made or [
            s
            for s in use.source.statements
            if s.class_name in {kind.__name__ for kind in type(holder).__mro__} and own in s.binds()
        ]
        return made[-1].returned_at() if made else site

    def _filled(self, sweep: BackwardPass, row: int) -> Explanation | None:
        """What arrived is not zero, and .grad is: something filled it with zeros."""
        gradient = self.source.grad if self.source.is_leaf else None
        if (
            gradient is None
            or sweep.asked == "grad"
            or gradient.is_sparse
            or bool(gradient.any())
            or sweep.adjoints[row].facts()[0]
        ):
            return None
        rows = self.log.rows_of(gradient)
        if not rows:
            return None
        return self.say("grad_cleared", self.entries[rows[-1]].site, row=row, kind="zeros")

    def _hooked(self, row: int) -> Explanation:
        entry = self.entries[row]
        what = (
            self.called_by_program(row) or fill("a tensor")
            if entry.kind != "operation"
            else fill("a module")
            if entry.op == "BackwardHookFunction"
            else fill("the result of {operation}", operation=self._called(row))
        )
        return self.say("hook", self.log.hooks.get(row, NOWHERE), row=row, what=what)

    def _cancelled(self, call: int, row: int) -> Explanation:
        hooked = next((at for at in (row, call) if at in self.log.hooks), None)
        return super()._cancelled(call, row) if hooked is None else self._hooked(hooked)

    def _origin(self, row: int, kind: str = "") -> Explanation:
        found = super()._origin(row, kind)
        entry = self.entries[found._rows[0]]
        alone = entry.op in SPREADS and math.prod(self.entries[entry.inputs[0]].shape) == math.prod(entry.shape)
        kind = "alone" if alone else "half" if entry.dtype == "float16" and found.cause == "nan_forward" else ""
        return self.say("nan_forward", row=entry.row, kind=kind) if kind else found

    def _zero_of(self, row: int) -> Explanation:
        if row in self.log.hooks:
            return self._hooked(row)
        if self.entries[row].op == "grid_sample" and "nearest" in text_of(self.entries[row].site):
            return self.say("zero_derivative", row=row, kind="nearest")
        if self.entries[row].op in SAMPLES:
            return self.say("zero_derivative", row=row, kind="sampled")
        if self.entries[row].extra.custom:
            return self._own_rule(row, "zeros")
        return super()._zero_of(row)

    def _own_rule(self, row: int, kind: str = "") -> Explanation:
        """A ``backward()`` of the program's own gave nothing, or zeros: where it returns."""
        rule = self.entries[row].extra.custom
        return self.say("no_gradient", NOWHERE if rule is None else last_return(rule), row=row, kind=kind)


def is_alone(statement: Statement, name: str = "") -> bool:
    """Whether a statement is a call alone, whose result is not used; with a name, one of that function."""
    call = statement.node.value if isinstance(statement.node, ast.Expr) else None
    return isinstance(call, ast.Call) and name in ("", last_name(call.func))


def leaves_of(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The leaves with which autograd knows a tensor to be computed."""
    found, seen, stack = list[torch.Tensor](), set(), [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            found += [node.variable] if hasattr(node, "variable") else []
            stack += [following for following, _ in reversed(node.next_functions)]
    return found


def _plain(node: str) -> str:
    """The name of a node without what errors write in one way or another: "Exp" for "ExpBackward0", "Clamp" for
    "Clamp1".
    """
    return re.sub(r"(Backward)?\d*$", "", node.rpartition("::")[2]).rstrip("0123456789")


CAUSES = {  # by the word of a row, where that is another
    "opaque": "unknown",
    "wrapped": "copied",
    "inside": "no_grad",
    "integer": "integer_cast",
    "not_differentiable": "no_derivative",
}
