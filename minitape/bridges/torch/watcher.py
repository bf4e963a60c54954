"""Follow a program's PyTorch calls inside the block, and the modules in which the calls run.

Each call runs unchanged and is then recorded.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Module, Parameter
from torch.nn.modules import module as modules
from torch.nn.parameter import is_lazy
from torch.optim import optimizer as optimizers
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack, _pop_mode, _push_mode
from torch.utils.data import SequentialSampler
from torch.utils.data.dataloader import _BaseDataLoaderIter

from ...engine.record.user_frames import is_minitape_or_library_file
from ...picture.readable_formulas import format_index
from ...recording.sites import find_user_site
from ..framework_patches import FrameworkPatches, Watcher
from .global_hooks import add_global_hook
from .parameter_history import ParameterCopy, list_optimized_parameters
from .row_log import GradClearing, TorchLog, is_differentiable

if TYPE_CHECKING:
    from ...engine.types import OptionalText, RowList, Scope
    from .kept_tensors import Tensors
    from .recording import TorchRecording

ESCAPE_METHODS = set("item numpy tolist __float__ __int__ __bool__ __array__ __index__ __complex__".split())
TENSOR_ATTRIBUTES = set("T mT H mH real imag data".split())  # Reading one of these attributes computes a new tensor.
IGNORED_FUNCTIONS = set(
    "size dim stride numel nelement ndimension is_floating_point is_complex is_contiguous __len__ __repr__ "
    "__str__ __format__ "
    "__hash__ __dir__ __reduce_ex__ __setstate__ retain_grad element_size data_ptr storage untyped_storage "
    "get_device is_inference allclose equal is_same_size storage_offset is_pinned is_shared _is_view backward_hooks "
    "_record_function_enter_new _record_function_exit _set_grad_enabled is_nonzero is_tensor result_type can_cast "
    "is_grad_enabled set_printoptions manual_seed share_memory_".split()
)
HOOK_METHODS = {"register_hook", "register_post_accumulate_grad_hook"}
COPY_FUNCTIONS = {"tensor", "Tensor", "as_tensor", "asarray", "scalar_tensor", "new_tensor"}
IN_PLACE_METHODS = set(
    "__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __idiv__ __ifloordiv__ __imod__ __ipow__ "
    "__iand__ __ior__ __ixor__ __ilshift__ __irshift__ __imatmul__".split()
)
CONSTANT_FILLS = {"constant_", "fill_", "zero_"}
# These functions change an argument in place although their names do not end with "_".
HIDDEN_IN_PLACE_FUNCTIONS = {"batch_norm", "instance_norm"}


class CallForwardingMode(TorchFunctionMode):
    """A function mode that forwards every PyTorch function call to a :class:`TorchWatcher`.

    Attributes:
        watcher: The watcher.
        modes_above: The modes entered after this one. The list is filled only while this mode is being removed.
        is_suspended: Whether the mode is suspended.
    """

    def __init__(self, watcher: TorchWatcher):
        """Create the mode for ``watcher``."""
        super().__init__()
        self.watcher = watcher
        self.modes_above: list = []
        self.is_suspended = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run a call through the watcher, or directly if torch.compile is compiling it or the block has ended."""
        # torch.compile also compiles this function, so the function itself must make the program's call.
        if torch.compiler.is_dynamo_compiling() or self.watcher.patches.thread_id is None:
            return func(*args, **(kwargs or {}))
        return self.watcher.run_and_record_call(func, args, kwargs or {})

    def suspend_mode_if_on_top(self) -> bool:
        """Remove the mode until :meth:`resume_mode` is called, so that calls run directly at no extra cost.

        Returns:
            Whether the mode was removed. A mode below another one is not removed.
        """
        self.is_suspended = _get_current_function_mode_stack()[-1:] == [self]
        if self.is_suspended:
            _pop_mode()
        return self.is_suspended

    def resume_mode(self) -> None:
        """Restore the mode, so that calls go through the watcher again."""
        if self.is_suspended:
            self.is_suspended = False
            _push_mode(self)

    def remove_mode(self) -> None:
        """Remove the mode permanently, even if modes that began later are above it.

        A later mode may still be open if the generator that entered it was never resumed. Such a mode remains.
        """
        # If Ctrl-C came while PyTorch had temporarily removed the mode, a suspended generator would restore the mode
        # later.
        if self not in _get_current_function_mode_stack():
            for holder in gc.get_referrers(self):
                if isinstance(holder, GeneratorType) and holder.gi_suspended:
                    holder.close()
        modes = _get_current_function_mode_stack()
        if self in modes:
            self.modes_above = self.modes_above or modes[modes.index(self) + 1 :]
        while self in _get_current_function_mode_stack():
            _pop_mode()
        for mode in self.modes_above:
            if mode not in _get_current_function_mode_stack():
                _push_mode(mode)


class TorchWatcher(Watcher):
    """Follows a program from the beginning to the end of the block.

    Attributes:
        recording: The recording.
        log: The log that writes the recording's rows.
        quiet_depth: The number of running calls whose inner calls are not recorded.
        is_in_custom_function: Whether one of the program's custom autograd Functions is running.
        patches: The changes to PyTorch.
    """

    def __init__(self, recording: TorchRecording):
        """Prepare to follow a program and write its recording."""
        self.recording = recording
        self.log = recording.log
        self.quiet_depth = 0
        self.is_in_custom_function = False
        self._call_mode = CallForwardingMode(
            weakref.proxy(self)
        )  # A strong reference would delay the watcher's deletion.
        # The modules that are running, outermost first, each with the path of names that leads from the outermost
        # module to it.
        self._running_modules: list[tuple[Module, Scope]] = []
        self._submodule_names: weakref.WeakKeyDictionary[Any, dict] = weakref.WeakKeyDictionary()
        self.patches = FrameworkPatches()
        self._stance: OptionalText = None  # The original torch.compile setting, or None if the block did not change it.

    # -- the block ---------------------------------------------------------------------------------

    def start_watching(self) -> None:
        """Start following the program: add the hooks, wrap functions, and enter the mode."""
        patches = self.patches
        patches.add_undo_action(self.log.run_watch.stop_watching)
        self.log.run_watch.start_watching()
        patches.activate_in_this_thread()
        patches.add_undo_action(self.log.graph.remove_hooks)
        replacement_hook = self._record_replacement_in_module
        for hook, *registries in (
            (self._record_module_start_and_set_scope, modules._global_forward_pre_hooks),
            (
                self._record_module_end_and_restore_scope,
                modules._global_forward_hooks,
                modules._global_forward_hooks_always_called,
            ),
            (self._suspend_recording_and_return_step_arguments, optimizers._global_optimizer_pre_hooks),
            (self._resume_recording_and_record_new_weights, optimizers._global_optimizer_post_hooks),
            (replacement_hook, modules._global_parameter_registration_hooks),
            (replacement_hook, modules._global_module_registration_hooks),
        ):
            add_global_hook(patches, hook, *registries)
        for owner, function_name, handler in (
            (torch.autograd.Function, "apply", self._run_and_record_custom_function),
            # A program may have stored ``f = Mine.apply`` before the block began.
            (torch.autograd.function._SingleLevelFunction, "apply", self._run_and_record_custom_function),
            (Parameter, "__new__", self._create_and_record_parameter),
            (torch.autograd.Variable, "__new__", self._create_and_record_parameter),
            (optimizers.Optimizer, "zero_grad", self._record_gradients_set_to_none_and_clear),
            (Module, "zero_grad", self._record_gradients_set_to_none_and_clear),
            (torch, "compile", self._compile_and_force_eager_runs),
            (_BaseDataLoaderIter, "__next__", self._fetch_and_record_batch),
        ):
            patches.wrap_function(owner, function_name, handler)
        if "torch._dynamo" in sys.modules:
            self._force_compiled_code_to_run_eagerly()
        patches.add_undo_action(self._call_mode.remove_mode)
        self._call_mode.__enter__()

    def _compile_and_force_eager_runs(self, original: Callable, *args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        self._run_safely(self._force_compiled_code_to_run_eagerly)
        return result

    def _force_compiled_code_to_run_eagerly(self) -> None:
        """Make code compiled by ``torch.compile`` run without the compiler until the block ends.

        Otherwise, the operations in compiled code would be invisible.
        """
        # PyTorch before 2.6 has no set_stance.
        if self._stance is not None or not hasattr(torch.compiler, "set_stance"):
            return
        self._stance = torch._dynamo.eval_frame._stance.stance
        self.patches.add_undo_action(lambda: torch.compiler.set_stance(self._stance or "default"))
        torch.compiler.set_stance("force_eager")

    def stop_watching(self) -> None:
        """Stop following the program, and undo all changes to PyTorch."""
        self.patches.undo_all()

    def _create_and_record_parameter(
        self, original: Callable, cls: Any, data: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Run and record ``nn.Parameter(t)`` or ``Variable(t)``, because function modes intercept neither."""
        if data is None:  # Each class has its own default value for the data.
            return original(cls, *args, **kwargs)
        result = original(cls, data, *args, **kwargs)
        frame = sys._getframe(2)
        # Parameters are also created when a module is built or copied, but these parameters do not come from the
        # program's tensors.
        is_by_user = not is_minitape_or_library_file(frame.f_code.co_filename)
        if isinstance(result, Tensor):
            self._run_safely(self.log.record_creation_site, result)
            if frame.f_code.co_name == "__deepcopy__":
                self.log.history.parameter_copies[result] = ParameterCopy(
                    weakref.ref(frame.f_locals["self"]), find_user_site()
                )
            if is_by_user and isinstance(data, Tensor) and not self.quiet_depth:
                self._run_safely(self.log.record_origin_of_leaf_values, result, [data], "wrapped")
        return result

    def _fetch_and_record_batch(self, original: Callable, iterator: Any) -> Any:
        """Fetch the next batch of a data loader, and record it if it is the first of several in a fixed order."""
        batch = original(iterator)
        if isinstance(getattr(iterator._index_sampler, "sampler", None), SequentialSampler) and len(iterator) > 1:
            first_batches = self.log.first_batches.setdefault(find_user_site(), [])
            tensors = list_tensors_in_arguments((batch,))
            first_batches.append(self._run_safely(_find_rows_or_add_unless_full, self.log, tensors) or [])
            if iterator._num_yielded > 1:
                first_batches.clear()
        return batch

    def _record_replacement_in_module(self, module: Any, name: str, value: Any) -> None:
        """Record that a parameter or layer of a module is being replaced."""
        previous = module._parameters.get(name) if isinstance(value, Parameter) else module._modules.get(name)
        if previous is not None and previous is not value:
            self._run_safely(self.log.history.record_replacement_in_module, previous, value)

    # -- calls -------------------------------------------------------------------------------------

    def run_and_record_call(self, func: Any, args: tuple, kwargs: dict) -> Any:
        """Run and record one of the program's calls.

        Args:
            func: The PyTorch function.
            args: Its positional arguments.
            kwargs: Its keyword arguments.

        Returns:
            The function's unchanged result.
        """
        # Inner calls, such as the hundreds of small calls in an optimizer step, are not recorded.
        if self.quiet_depth and not self.is_in_custom_function:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        is_transformed = torch._C._are_functorch_transforms_active()
        if is_transformed or self.is_in_custom_function:
            self._run_safely(self.log.record_use_in_unrecorded_call, list_tensors_in_arguments((args, kwargs)))
        # torch.jit.trace would also trace the recorder's own operations.
        is_ignored = self.quiet_depth or is_transformed or torch._C._is_tracing()
        if is_ignored or name in IGNORED_FUNCTIONS or self.recording.internal_error is not None:
            return func(*args, **kwargs)
        if name in HOOK_METHODS:
            handle = func(*args, **kwargs)
            self._run_safely(self.log.graph.move_own_hooks_last, args[0])
            return handle
        if name in ("__get__", "__set__"):
            return self._run_and_record_attribute_access(func, args, name == "__set__")
        if name == "backward" or (name == "grad" and func is torch.autograd.grad):
            return self._run_and_record_backward(func, name, args, kwargs)
        if name in ESCAPE_METHODS:
            self._run_safely(self.log.record_escape, args[0], name)
            return func(*args, **kwargs)
        if name == "requires_grad_":
            self._forget_row_and_record_freezing(args[0], all(args[1:]) and kwargs.get("requires_grad", True))
            return func(*args, **kwargs)
        if name in CONSTANT_FILLS:
            for tensor in list_tensors_in_arguments((args[:1], kwargs)):
                self.log.history.constant_fill_sites[tensor] = find_user_site()
        return self._run_and_record_operation(func, name, args, kwargs)

    def _run_safely(self, action: Callable, *arguments: Any) -> Any:
        """Run one of the recorder's actions.

        An error in the action ends the recording with a warning, and the program continues.
        """
        try:
            with torch._C.DisableTorchFunction():  # Do not record the recorder's own calls.
                result = action(*arguments)
            # If the return were inside the block, Ctrl-C could interrupt it before the block ends.
            return result  # noqa: RET504
        except Exception as error:
            self.recording.store_first_internal_error_and_warn(error)
            return None

    def _run_and_record_attribute_access(self, func: Any, args: tuple, is_set: bool) -> Any:
        """Read or set an attribute of a tensor, and record the effect."""
        name = func.__self__.__name__
        if not is_set:
            if name in TENSOR_ATTRIBUTES:
                return self._run_and_record_operation(func, name, args, {})
            result = func(*args)
            if name == "grad" and isinstance(result, Tensor):
                self._run_safely(self.log.record_grad_read, result)
            elif name == "grad" and result is None and args[0].grad_fn is not None:
                self._run_safely(self.log.record_missing_grad_read_of_result, args[0])
            return result
        if name == "data":
            if args[0].dtype != args[1].dtype:  # This is how PyTorch converts the parameters of a module.
                self.log.history.conversion_sites[args[0]] = find_user_site()
            self._run_safely(self.log.kept_tensors.copy_kept_values_before_change, args[:1])
            self._run_safely(self.log.record_origin_of_leaf_values, args[0], args[1:], "data")
            self.log.forget_current_row(args[0])
        if name == "requires_grad":
            self._forget_row_and_record_freezing(args[0], args[1])
        if name == "grad" and args[1] is None:
            self.log.grad_clearings[args[0]] = GradClearing(find_user_site(), len(self.recording.sweeps))
        return func(*args)

    def _record_gradients_set_to_none_and_clear(self, original: Callable, owner: Any, set_to_none: bool = True) -> None:
        """Record that all gradients of an optimizer or a module are set to None, without recording individual calls."""
        if not set_to_none or self.quiet_depth or not self._call_mode.suspend_mode_if_on_top():
            original(owner, set_to_none)
            return
        try:
            parameters = owner.parameters() if isinstance(owner, Module) else list_optimized_parameters(owner)
            clearing = GradClearing(find_user_site(), len(self.recording.sweeps))
            for tensor in parameters:
                if tensor.grad is not None:
                    self.log.grad_clearings[tensor] = clearing
            original(owner, set_to_none)
        finally:
            self._call_mode.resume_mode()

    def _forget_row_and_record_freezing(self, tensor: Tensor, is_required: bool) -> None:
        """Forget the row of a tensor whose ``requires_grad`` is being set, and record a line that freezes it."""
        self.log.forget_current_row(tensor)
        if not is_required:
            self.log.history.freezing_sites[tensor] = find_user_site()

    def _run_and_record_operation(self, func: Any, function_name: str, args: tuple, kwargs: dict) -> Any:
        """Run an operation and record its results."""
        if self.log.is_full:
            self.recording.left_out += 1
            return func(*args, **kwargs)
        inputs = [] if uses_only_argument_shape(function_name) else list_tensors_in_arguments((args, kwargs))
        # A lazy module's parameters have no values before the module's first call.
        if any(map(is_lazy, inputs)):
            return func(*args, **kwargs)
        changed_tensors = list_arguments_changed_in_place(function_name, args, kwargs)
        # The tensor is about to receive its first values, so its current contents are meaningless.
        if changed_tensors and all(map(self.log.is_unused_leaf_while_grad_is_off, inputs)):
            return func(*args, **kwargs)
        rows_before = (
            self._run_safely(self._copy_values_and_list_rows_before_change, inputs, changed_tensors)
            if changed_tensors or function_name in HIDDEN_IN_PLACE_FUNCTIONS
            else None
        )
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            # The program tried to change, in place, a leaf that requires gradients.
            if "leaf Variable that requires grad" in str(error):
                self.recording.error = error, find_user_site()
            raise
        if self.recording.internal_error is None:
            self._run_safely(self._record_result, function_name, args, inputs, rows_before, changed_tensors, result)
        return result

    def _copy_values_and_list_rows_before_change(self, inputs: Tensors, changed_tensors: Tensors) -> RowList:
        """Copy the kept values that an in-place change would overwrite.

        Returns:
            The input rows before the change.
        """
        rows = list(map(self.log.find_or_add_row, inputs))
        self.log.kept_tensors.copy_kept_values_before_change(changed_tensors)
        return rows

    def _record_result(
        self,
        function_name: str,
        args: tuple,
        inputs: Tensors,
        rows_before: RowList | None,
        changed_tensors: Tensors,
        result: Any,
    ) -> None:
        """Record an operation's results, or the new values of arguments changed in place."""
        outputs = changed_tensors or list_tensors_in_arguments((result,))
        if changed_tensors:
            outputs = [
                output for output in outputs if not self._record_leaf_assignment_and_check_if_leaf(output, inputs)
            ]
        else:
            input_ids = {*map(id, inputs)}
            outputs = [output for output in outputs if id(output) not in input_ids]
        if not outputs:
            return
        if not inputs:
            for tensor in outputs:
                self.log.record_creation_site(tensor)
            return
        rows = rows_before if rows_before is not None else list(map(self.log.find_or_add_row, inputs))
        for tensor in changed_tensors:
            base = tensor._base if tensor._is_view() else None
            base_rows = [] if base is None else self.log.list_rows(base)[-1:]
            if base_rows:  # The base of a view changes together with the view.
                self.log.in_place_changes.append((base_rows[0], self.log.find_or_add_row(base)))
        label = format_index(args[1]) if function_name == "__getitem__" else ""
        new_rows = self.log.record_operation(
            function_name, rows, outputs, _find_break_cause_by_name(function_name, inputs, outputs), label
        )
        if not changed_tensors:
            return
        for tensor, row in zip(outputs, new_rows, strict=True):
            self.log.in_place_changes += [
                (rows[position], row) for position, input_tensor in enumerate(inputs) if input_tensor is tensor
            ]

    def _record_leaf_assignment_and_check_if_leaf(self, tensor: Tensor, inputs: Tensors) -> bool:
        """Record the new values of the leaf that shares a tensor's memory, if there is such a leaf.

        The leaf is still a leaf afterwards, and its next use adds a new row.

        Returns:
            Whether the tensor is the leaf itself.
        """
        leaf = self.log.find_leaf_sharing_memory(tensor)
        if leaf is not None:
            cause = "data" if torch.is_grad_enabled() else "no_grad"
            self.log.record_origin_of_leaf_values(
                leaf, [input_tensor for input_tensor in inputs if input_tensor is not tensor], cause
            )
            self.log.record_that_leaves_got_new_values([leaf])
        return leaf is tensor

    def _run_and_record_custom_function(self, original: Callable, cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run one of the program's custom ``torch.autograd.Function`` classes, and record the call as one row."""
        apply = partial(original, cls)
        if self.quiet_depth:
            return apply(*args, **kwargs)
        self.quiet_depth += 1
        detached = [arg.detach() if isinstance(arg, Tensor) else arg for arg in args]
        self.log.custom_calls.setdefault(cls, detached)
        self.is_in_custom_function = True
        try:
            return self._run_and_record_operation(apply, cls.__name__, args, kwargs)
        finally:
            self.quiet_depth -= 1
            self.is_in_custom_function = False

    def _run_and_record_backward(self, func: Any, function_name: str, args: tuple, kwargs: dict) -> Any:
        """Run autograd's own backward pass while the hooks record the adjoints."""
        targets = list_tensors_in_arguments(args[:1] or (kwargs.get("tensors", kwargs.get("outputs")),))
        graph = self.log.graph
        rows = self._run_safely(_find_rows_or_add_unless_full, self.log, targets) or []
        graph.keeps_graph = bool(kwargs.get("retain_graph") or kwargs.get("create_graph"))
        requested = list_tensors_in_arguments((args[1:2], kwargs.get("inputs")))
        self._run_safely(graph.attach_adjoint_hooks_to_requested_results, requested)
        graph.record_backward_start(rows, function_name, find_user_site())
        self.quiet_depth += 1
        self.recording.failed_target_rows = []
        self.recording.failed_source_rows = []
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            self.recording.error = (error, find_user_site())
            self.recording.failed_target_rows = rows
            self.recording.failed_sweep = graph.current_sweep
            if function_name == "grad":
                self.recording.failed_source_rows = (
                    self._run_safely(_find_rows_or_add_unless_full, self.log, requested) or []
                )
            raise
        finally:
            graph.reset_state_after_backward()
            self.quiet_depth -= 1
        if function_name == "grad":
            self._run_safely(_record_returned_gradients, self.log, targets, result)
        return result

    # -- modules and optimizers --------------------------------------------------------------------

    def _record_module_start_and_set_scope(self, module: Any, _: Any) -> None:
        """Record that a module is starting, and set the scope of new rows to its path."""
        if not self._running_modules:
            for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
                self.log.history.tensor_names.setdefault(tensor, name)
            name = self._run_safely(self.log.history.find_or_add_called_module, module)
            path: Scope = (name or type(module).__name__,)
        else:
            parent, outer_path = self._running_modules[-1]
            names = self._submodule_names.get(parent)
            if names is None:
                names = self._submodule_names[parent] = {
                    id(submodule): name for name, submodule in parent.named_modules()
                }
            path = (*outer_path, names.get(id(module)) or type(module).__name__)
        self._running_modules.append((module, path))
        self.log.scope = path

    def _record_module_end_and_restore_scope(self, *_: Any) -> None:
        """Record that the innermost module has finished, and restore the previous scope."""
        if self._running_modules:
            self._running_modules.pop()
        self.log.scope = self._running_modules[-1][1] if self._running_modules else ()

    def _suspend_recording_and_return_step_arguments(self, optimizer: Any, args: tuple, kwargs: dict) -> Any:
        """Suspend recording for an optimizer step, except in the step's closure.

        The hundreds of small calls in a step are not recorded, but the calls in its closure are.

        Returns:
            The step's arguments with a closure whose calls are recorded, or None if the step has no closure.
        """
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        self._suspend_recording_for_step(optimizer)
        if closure is None:
            return None

        def run_closure() -> Any:
            self._resume_recording_and_record_new_weights(optimizer)
            try:
                return closure()
            finally:
                self._suspend_recording_for_step(optimizer)

        if len(args) > 1:
            return (args[0], run_closure, *args[2:]), kwargs
        return args, kwargs | {"closure": run_closure}

    def _suspend_recording_for_step(self, optimizer: Any) -> None:
        """Suspend recording during a step, and copy the kept values that the step is about to change."""
        self.quiet_depth += 1
        self._run_safely(self.log.kept_tensors.copy_kept_values_before_change, list_optimized_parameters(optimizer))
        self._call_mode.suspend_mode_if_on_top()

    def _resume_recording_and_record_new_weights(self, optimizer: Any, *_: Any) -> None:
        """Resume recording after a step, and record the parameters' new values."""
        self._call_mode.resume_mode()
        self.quiet_depth -= 1
        used_parameters = filter(self.log.list_rows, list_optimized_parameters(optimizer))
        self._run_safely(self.log.record_that_leaves_got_new_values, used_parameters)


def list_tensors_in_arguments(arguments: Iterable[Any]) -> Tensors:
    """Return the tensors in the given arguments, including those in nested tuples, lists, dictionaries and slices.

    >>> [t.item() for t in list_tensors_in_arguments([torch.tensor(1), [torch.tensor(2), "a"], {"b": torch.tensor(3)}])]
    [1, 2, 3]
    """
    tensors = []
    for value in arguments.values() if isinstance(arguments, dict) else arguments:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, (tuple, list, dict)):
            tensors += list_tensors_in_arguments(value)
        elif isinstance(value, slice):
            tensors += list_tensors_in_arguments((value.start, value.stop, value.step))
    return tensors


def uses_only_argument_shape(function_name: str) -> bool:
    """Return whether a function reads only its argument's shape and dtype.

    Args:
        function_name: The name of the function.

    >>> uses_only_argument_shape("zeros_like"), uses_only_argument_shape("new_tensor")
    (True, False)
    """
    return function_name.endswith("_like") or (function_name.startswith("new_") and function_name not in COPY_FUNCTIONS)


def list_arguments_changed_in_place(function_name: str, args: tuple, kwargs: dict) -> Tensors:
    """Return the tensors that a call changes in place, either those in ``out=`` or the first argument.

    Args:
        function_name: The name of the function.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
    """
    if kwargs.get("out") is not None:
        return list_tensors_in_arguments((kwargs["out"],))
    is_in_place = (
        function_name in IN_PLACE_METHODS
        or (function_name.endswith("_") and not function_name.endswith("__"))
        or kwargs.get("inplace") is True
    )
    return list_tensors_in_arguments(args[:1]) if is_in_place else []


def _find_break_cause_by_name(function_name: str, inputs: Tensors, outputs: Tensors) -> str:
    """Return the reason why no gradient passes through a call, or "" if the function's name does not show it."""
    if function_name in ("detach", "detach_", "data"):
        return function_name.strip("_")
    if function_name in COPY_FUNCTIONS:
        return "copied"
    if not is_differentiable(outputs[0].dtype) and function_name in "to long int short char byte bool type".split():
        return "integer_cast"
    return ""


def _find_rows_or_add_unless_full(log: TorchLog, tensors: Tensors) -> RowList:
    """Return the rows of some tensors, adding missing rows. If the log is full, tensors without a row are left out."""
    return [
        log.find_or_add_row(tensor) for tensor in tensors if not log.is_full or log.find_current_row(tensor) is not None
    ]


def _record_returned_gradients(log: TorchLog, targets: Tensors, result: Any) -> None:
    """Record the gradients returned by ``torch.autograd.grad``, because the program may compute with them."""
    for tensor in list_tensors_in_arguments((result,)):
        if log.find_current_row(tensor) is None and not log.is_full:
            input_rows = log.graph.find_nearest_ancestor_rows([tensor]) or [
                log.find_or_add_row(target) for target in targets
            ]
            log.record_operation("grad", input_rows, [tensor], "" if tensor.requires_grad else "create_graph")
