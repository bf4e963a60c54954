"""What a program calls of PyTorch inside the block, and in which module: each call is run as it is, then written
down.
"""

from __future__ import annotations

import gc
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from types import GeneratorType
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.nn.parameter import UninitializedTensorMixin
from torch.optim import optimizer as optimizers
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack, _pop_mode, _push_mode
from torch.utils.hooks import RemovableHandle

from ...engine.recording.frames import own_file
from ...recording.sites import here
from ..changes import Changes
from .rows import TorchLog, differentiable

LEAVES = set("item numpy tolist __float__ __int__ __bool__ __array__ __index__ __complex__".split())
VIEWS = set("T mT H mH real imag data".split())  # attributes that are tensors computed from this one
SILENT = set(
    "size dim stride numel nelement ndimension is_floating_point is_complex is_contiguous __len__ __repr__ "
    "__str__ __format__ "
    "__hash__ __dir__ __reduce_ex__ __setstate__ retain_grad element_size data_ptr storage untyped_storage "
    "get_device is_inference allclose equal is_same_size storage_offset is_pinned is_shared _is_view backward_hooks "
    "_record_function_enter_new _record_function_exit _set_grad_enabled is_nonzero is_tensor result_type can_cast "
    "is_grad_enabled set_printoptions manual_seed share_memory_".split()
)
HOOKS = {"register_hook", "register_post_accumulate_grad_hook"}
COPIES = {"tensor", "Tensor", "as_tensor", "asarray", "scalar_tensor", "new_tensor"}
NORMS = {"_foreach_norm", "clip_grad_norm_"}  # of gradients, to clip them
IN_PLACE = set(
    "__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __idiv__ __ifloordiv__ __imod__ __ipow__ "
    "__iand__ __ior__ __ixor__ __ilshift__ __irshift__ __imatmul__".split()
)
HIDDEN = {"batch_norm", "instance_norm"}  # change arguments although their name does not say so


class Mode(TorchFunctionMode):
    """Hands every call of a PyTorch function to a :class:`TorchWatcher`."""

    def __init__(self, watcher: TorchWatcher) -> None:
        super().__init__()
        self.watcher = watcher
        self.above: list = []  # the modes that began after it, while it is taken away
        self.rests = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # torch.compile reads this text, and must find the program's own call
        if torch.compiler.is_dynamo_compiling() or self.watcher.changes.thread is None:
            return func(*args, **(kwargs or {}))
        return self.watcher.call(func, args, kwargs or {})

    def rest(self) -> None:
        """Nothing is handed over until :meth:`go_on`, which costs nothing then."""
        self.rests = _get_current_function_mode_stack()[-1:] == [self]
        if self.rests:
            _pop_mode()

    def go_on(self) -> None:
        """Calls are handed over again."""
        if self.rests:
            self.rests = False
            _push_mode(self)

    def leave(self) -> None:
        """Takes it away, also from below others: a generator that is not resumed ends late."""
        # Ctrl-C came while PyTorch had put it aside, in a generator that brings it back
        if self not in _get_current_function_mode_stack():
            for holder in gc.get_referrers(self):
                if isinstance(holder, GeneratorType) and holder.gi_suspended:
                    holder.close()
        modes = _get_current_function_mode_stack()
        if self in modes:
            self.above = self.above or modes[modes.index(self) + 1 :]
        while self in _get_current_function_mode_stack():
            _pop_mode()
        for mode in self.above:
            if mode not in _get_current_function_mode_stack():
                _push_mode(mode)


class TorchWatcher:
    """Follows a program from the beginning of the block to its end."""

    def __init__(self, recording: Any) -> None:
        self.recording = recording
        self.log: TorchLog = recording.log
        self.quiet = 0  # more than 0 while a call is one row whose inner calls are not to be seen
        self.inside = False  # whether such a call is a Function of the program's own
        self._mode = Mode(self)
        self._path: list[tuple] = []  # the modules that run
        self._children: weakref.WeakKeyDictionary[Any, dict] = weakref.WeakKeyDictionary()
        self.changes = Changes()

    # -- the block ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """From now on calls are seen."""
        changes = self.changes
        changes.begin()
        changes.note(self.log.graph.release)
        self._hook(self._enter, modules._global_forward_pre_hooks)
        self._hook(self._leave, modules._global_forward_hooks, modules._global_forward_hooks_always_called)
        self._hook(self._before_step, optimizers._global_optimizer_pre_hooks)
        self._hook(self._after_step, optimizers._global_optimizer_post_hooks)
        changes.wrap(torch.autograd.Function, "apply", self.custom)
        # of a program's ``f = Mine.apply`` from before
        changes.wrap(torch.autograd.function._SingleLevelFunction, "apply", self.custom)
        changes.wrap(torch.nn.Parameter, "__new__", self._new_leaf)
        changes.wrap(torch.autograd.Variable, "__new__", self._new_leaf)
        self._hook(self._set, modules._global_parameter_registration_hooks)
        self._hook(self._set, modules._global_module_registration_hooks)
        changes.wrap(warnings, "showwarning", _shown_at_call)
        changes.note(self._mode.leave)
        self._mode.__enter__()

    def end(self) -> None:
        """PyTorch is as it was."""
        self.changes.undo()

    def _hook(self, hook: Callable, hooks: dict, *marks: dict[int, bool]) -> None:
        """A hook on all modules or optimizers, as PyTorch's functions put it there, which give the handle back too late
        for Ctrl-C.
        """
        handle = RemovableHandle(hooks, extra_dict=[*marks])

        def heard(*args: Any) -> Any:
            return None if torch.compiler.is_dynamo_compiling() or not self.changes.here else hook(*args)

        self.changes.note(handle.remove)
        for mark in marks:
            mark[handle.id] = True
        hooks[handle.id] = heard

    def _new_leaf(self, make: Callable, cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        """``nn.Parameter(t)`` and ``Variable(t)``, which no mode sees."""
        if data is None:  # each class has a default of its own
            return make(cls, *args, **kwargs)
        result = make(cls, data, *args, **kwargs)
        frame = sys._getframe(2)
        by_user = not own_file(frame.f_code.co_filename)  # and not by a module that is built or copied
        if isinstance(result, torch.Tensor):
            self._safely(self.log.note_created, result)
            if frame.f_code.co_name == "__deepcopy__":
                self.log.history.copies[result] = weakref.ref(frame.f_locals["self"]), here()
        if by_user and isinstance(data, torch.Tensor) and isinstance(result, torch.Tensor) and not self.quiet:
            self._safely(self.log.note_leaf_values, result, [data], "wrapped")
        return result

    def _set(self, module: Any, name: str, value: Any) -> None:
        """A parameter or layer of a module's, perhaps in the place of another."""
        old = module._parameters.get(name) if isinstance(value, torch.nn.Parameter) else module._modules.get(name)
        if old is not None and old is not value:
            self._safely(self.log.history.replaced, old, value)

    # -- calls -------------------------------------------------------------------------------------

    def call(self, func: Any, args: tuple, kwargs: dict) -> Any:
        """Runs a call of the program's, and writes down what it was."""
        if self.quiet and not self.inside:  # such as the hundred small calls of an optimizer's step
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        transformed = torch._C._are_functorch_transforms_active()
        if transformed or self.inside:
            self._safely(self.log.note_inside, tensors_in((args, kwargs)))
        unseen = self.quiet or transformed or torch._C._is_tracing()  # torch.jit.trace writes down what we would do
        if unseen or name in SILENT or self.recording.failure is not None:
            return func(*args, **kwargs)
        if name in HOOKS:
            handle = func(*args, **kwargs)
            self._safely(self.log.graph.read_last, args[0])
            return handle
        if name == "__get__" or name == "__set__":
            return self._attribute(func, args, name == "__set__")
        if name == "backward" or (name == "grad" and func is torch.autograd.grad):
            return self._backward(func, name, args, kwargs)
        if name in LEAVES:
            self._safely(self.log.leave, args[0], name)
            return func(*args, **kwargs)
        if name in NORMS:
            self._safely(self.log.training.norm, len(self.recording.sweeps) - 1, here())
        if name == "requires_grad_":
            self._required(args[0], all(args[1:]) and kwargs.get("requires_grad", True))
            return func(*args, **kwargs)
        return self._operation(func, name, args, kwargs)

    def _safely(self, write: Callable, *arguments: Any) -> Any:
        """Writes something down. A mistake in that ends the recording, with a warning, and never the program."""
        try:
            with torch._C.DisableTorchFunction():  # what is called here is not the program's
                result = write(*arguments)
            return result  # noqa: RET504 - in the block, Ctrl-C could come behind it and before its end
        except Exception as error:
            self.recording.fail(error)
            return None

    def _attribute(self, func: Any, args: tuple, sets: bool) -> Any:
        name = func.__self__.__name__
        if not sets:
            if name in VIEWS:
                return self._operation(func, name, args, {})
            result = func(*args)
            if name == "grad" and isinstance(result, torch.Tensor):
                self._safely(self.log.gradient_read, result, _last_targets(self.log))
            return result
        if name == "data":
            self._safely(self.log.keeper.before_change, args[:1])
            self._safely(self.log.note_leaf_values, args[0], args[1:], "data")
            self.log.forget(args[0])
        if name == "requires_grad":
            self._required(args[0], args[1])
        if name == "grad" and args[1] is None:
            self.log.clearings[args[0]] = here(), len(self.recording.sweeps)
        return func(*args)

    def _required(self, tensor: torch.Tensor, requires: bool) -> None:
        """requires_grad was set."""
        self.log.forget(tensor)
        if not requires:
            self.log.history.frozen[tensor] = here()

    def _operation(self, func: Any, name: str, args: tuple, kwargs: dict) -> Any:
        if self.log.full:
            self.recording.left_out += 1
            return func(*args, **kwargs)
        inputs = [] if of_shapes(name) else list(tensors_in((args, kwargs)))
        if any(isinstance(t, UninitializedTensorMixin) for t in inputs):  # of a lazy module, before its first use
            return func(*args, **kwargs)
        changed = changed_by(name, args, kwargs)
        if changed and all(map(self.log.is_new, inputs)):  # it gets its first values: what it holds are no numbers
            return func(*args, **kwargs)
        before = self._safely(self._rows_before, inputs, changed) if changed or name in HIDDEN else None
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            if "leaf Variable that requires grad" in str(error):  # which is not to be changed in place
                self.recording.error = error, here()
            raise
        if self.recording.failure is None:
            self._safely(self._write, name, inputs, before, changed, result)
        return result

    def _rows_before(self, inputs: list[torch.Tensor], changed: list[torch.Tensor]) -> list[int]:
        rows = [self.log.row_of(t) for t in inputs]
        self.log.keeper.before_change(changed)
        return rows

    def _write(
        self, name: str, inputs: list[torch.Tensor], before: list[int] | None, changed: list[torch.Tensor], result: Any
    ) -> None:
        outputs = changed or list(tensors_in((result,)))
        if changed:
            outputs = [t for t in outputs if not self._assigned(t, inputs)]
        else:
            outputs = [t for t in outputs if not any(t is given for given in inputs)]
        if not outputs:
            return
        if not inputs:
            for tensor in outputs:
                self.log.note_created(tensor)
            return
        rows = before if before is not None else [self.log.row_of(t) for t in inputs]
        for tensor in changed:
            base = tensor._base if tensor._is_view() else None
            earlier = [] if base is None else self.log.rows_of(base)[-1:]
            if earlier:  # what it is a view of has changed with it
                self.log.changes.append((earlier[0], self.log.row_of(base)))
        written = self.log.write(name, rows, outputs, _why(name, inputs, outputs))
        for tensor, row in zip(outputs, written, strict=True) if changed else ():
            self.log.changes += [(rows[k], row) for k, given in enumerate(inputs) if given is tensor]

    def _assigned(self, tensor: torch.Tensor, inputs: list[torch.Tensor]) -> bool:
        """Whether a leaf was given new values: it is a leaf still, with a row of its own from its next use on."""
        leaf = self.log.leaf_behind(tensor)
        if leaf is not None:
            why = "data" if torch.is_grad_enabled() else "no_grad"
            self.log.note_leaf_values(leaf, [given for given in inputs if given is not tensor], why)
            self.log.assigned(leaf)
        return leaf is tensor

    def custom(self, function: Callable, cls: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of the user's own ``torch.autograd.Function``: one row, whatever it calls."""
        apply = partial(function, cls)
        if self.quiet:
            return apply(*args, **kwargs)
        self.quiet += 1
        self.inside = True
        try:
            return self._operation(apply, cls.__name__, args, kwargs)
        finally:
            self.quiet -= 1
            self.inside = False

    def _backward(self, func: Any, name: str, args: tuple, kwargs: dict) -> Any:
        """Autograd's own backward pass: the hooks see what passes through it."""
        targets = list(tensors_in(args[:1] or (kwargs.get("tensors", kwargs.get("outputs")),)))
        graph = self.log.graph
        rows = self._safely(_targets, self.log, targets) or []
        graph.begin(rows, name, here())
        self.quiet += 1
        self.recording.failed = []
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            self.recording.error, self.recording.failed = (error, here()), rows
            raise
        finally:
            graph.end()
            self.quiet -= 1
        self._safely(_note_backward, self.log)
        if name == "grad":
            self._safely(_gradients, self.log, targets, result)
        return result

    # -- modules and optimizers --------------------------------------------------------------------

    def _enter(self, module: Any, _: Any) -> None:
        if not self._path:
            for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
                self.log.history.names.setdefault(tensor, name)
            if not any(ref() is module for ref in self.log.history.modules):
                self.log.history.modules.append(weakref.ref(module))
            path: tuple[str, ...] = (type(module).__name__,)
        else:
            parent, above = self._path[-1]
            names = self._children.get(parent)
            if names is None:
                names = self._children[parent] = {id(m): name for name, m in parent.named_modules()}
            path = (*above, names.get(id(module)) or type(module).__name__)
        self._path.append((module, path))
        self.log.scope = path

    def _leave(self, *_: Any) -> None:
        if self._path:
            self._path.pop()
        self.log.scope = self._path[-1][1] if self._path else ()

    def _before_step(self, optimizer: Any, args: tuple, kwargs: dict) -> Any:
        """An optimizer changes its parameters, by hundreds of small calls of no interest; its closure, where it
        has one, is the program's own.
        """
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        self._step_begins(optimizer, known=closure is None)
        if closure is None:
            return None

        def asked() -> Any:
            self._step_ends(optimizer)
            try:
                return closure()
            finally:
                self._step_begins(optimizer)

        return ((args[0], asked, *args[2:]), kwargs) if len(args) > 1 else (args, kwargs | {"closure": asked})

    def _after_step(self, optimizer: Any, *_: Any) -> None:
        self._step_ends(optimizer)

    def _step_begins(self, optimizer: Any, known: bool = True) -> None:
        """``known`` says whether the gradients are those which the step uses: before its closure they are not."""
        self.quiet += 1
        if known:
            self._safely(self.log.training.step, optimizer, len(self.recording.sweeps) - 1, here())
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self._safely(self.log.keeper.before_change, parameters)
        self._mode.rest()

    def _step_ends(self, optimizer: Any) -> None:
        self._mode.go_on()
        self.quiet -= 1
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                if self.log.rows_of(tensor):
                    self._safely(self.log.assigned, tensor)


def _shown_at_call(show: Callable, message: Any, category: Any, filename: str, line: int, *more: Any) -> None:
    """A warning of PyTorch's about its caller, which is this file in the block, has the program's line."""
    show(message, category, *(here() if filename == __file__ else (filename, line)), *more)


def tensors_in(values: Any) -> Iterable[torch.Tensor]:
    """The tensors in arguments, in order.

    >>> [t.item() for t in tensors_in((torch.tensor(1), [torch.tensor(2), "a"], {"b": torch.tensor(3)}))]
    [1, 2, 3]
    """
    for value in values.values() if isinstance(values, dict) else values:
        part = (value.start, value.stop, value.step) if isinstance(value, slice) else value
        if isinstance(part, torch.Tensor):
            yield part
        elif isinstance(part, (tuple, list, dict)):
            yield from tensors_in(part)


def of_shapes(name: str) -> bool:
    """Whether a function takes the shape and the dtype of its argument only.

    >>> of_shapes("zeros_like"), of_shapes("new_tensor")
    (True, False)
    """
    return name.endswith("_like") or (name.startswith("new_") and name not in COPIES)


def changed_by(name: str, args: tuple, kwargs: dict) -> list[torch.Tensor]:
    """The arguments that a call changes in place."""
    if kwargs.get("out") is not None:
        return list(tensors_in((kwargs["out"],)))
    in_place = name in IN_PLACE or (name.endswith("_") and not name.endswith("__")) or kwargs.get("inplace") is True
    return list(tensors_in(args[:1])) if in_place else []


def _last_targets(log: TorchLog) -> list[int]:
    """From which rows the last backward pass began."""
    sweeps = log.recording.sweeps
    return sweeps[-1].target if sweeps else []


def _why(name: str, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> str:
    """Why no gradient passes a call, where its name says so."""
    if name in ("detach", "detach_", "data"):
        return name.strip("_")
    if name in COPIES:
        return "copied"
    if not differentiable(outputs[0].dtype) and name in "to long int short char byte bool type".split():
        return "integer_cast"
    return ""


def _note_backward(log: TorchLog) -> None:
    """Notes the gradients of leaves after a backward pass."""
    sweeps = log.recording.sweeps
    rows = sweeps[-1].adjoints if sweeps else ()
    leaves = (log.entries[row].extra.ref() for row in rows if log.entries[row].kind != "operation")
    log.training.note_backward((leaf for leaf in leaves if leaf is not None), len(sweeps) - 1, log.graph.site)


def _targets(log: TorchLog, targets: list[torch.Tensor]) -> list[int]:
    return [log.row_of(t) for t in targets if not log.full or log.row_now(t) is not None]


def _gradients(log: TorchLog, targets: list[torch.Tensor], result: Any) -> None:
    """Gradients that a program goes on with: each is a row."""
    for tensor in tensors_in((result,)):
        if log.row_now(tensor) is None and not log.full:
            behind = log.graph.rows_behind([tensor]) or [log.row_of(t) for t in targets]
            log.write("grad", behind, [tensor], "" if tensor.requires_grad else "create_graph")
