"""Add hooks to all modules and optimizers of PyTorch, so that they can be removed at any moment."""

from __future__ import annotations

from collections.abc import Callable

from torch.utils.hooks import RemovableHandle

from ..framework_patches import FrameworkPatches


def add_global_hook(patches: FrameworkPatches, hook: Callable, registry: dict, *mark_registries: dict) -> None:
    """Add a hook to every module or optimizer.

    PyTorch's own functions return the handle only after adding the hook, so the handle would be lost if Ctrl-C came in
    between.

    Args:
        patches: The changes to PyTorch. Undoing them removes the hook.
        hook: The function that PyTorch calls.
        registry: PyTorch's dictionary of hooks of this kind.
        *mark_registries: The dictionaries in which PyTorch marks hooks that are always called.
    """
    handle = RemovableHandle(registry, extra_dict=[*mark_registries])
    patches.add_undo_action(handle.remove)
    for mark_registry in mark_registries:
        mark_registry[handle.id] = True
    registry[handle.id] = hook
