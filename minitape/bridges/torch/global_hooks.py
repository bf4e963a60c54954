"""Add hooks to all PyTorch modules and optimizers, and keep warnings from pointing to a hook."""

from collections.abc import Callable
from os.path import dirname
from threading import get_ident
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from ...recording.sites import find_user_site
from ..framework_patches import FrameworkPatches

FOLDER_OF_HOOKS = dirname(__file__)


def add_global_hook(patches: FrameworkPatches, hook: Callable, registry: dict, *mark_registries: dict) -> None:
    """Add a hook to every module or optimizer. The hook runs only in the block's thread and never in the compiler.

    PyTorch's own functions return the handle only after adding the hook, so the handle would be lost if Ctrl-C came in
    between.

    Args:
        patches: The changes to PyTorch. Undoing them removes the hook.
        hook: The function that PyTorch calls.
        registry: PyTorch's dictionary for this kind of hook.
        *mark_registries: The dictionaries in which PyTorch marks hooks that are always called.
    """

    def run_hook_if_active(*args: Any) -> Any:
        if torch.compiler.is_dynamo_compiling() or patches.thread_id != get_ident():
            return None
        return hook(*args)

    handle = RemovableHandle(registry, extra_dict=[*mark_registries])
    patches.add_undo_action(handle.remove)
    for mark_registry in mark_registries:
        mark_registry[handle.id] = True
    registry[handle.id] = run_hook_if_active


def show_warning_at_program_line(
    original: Callable, message: Any, category: Any, filename: str, line: int, *rest: Any
) -> None:
    """Show a warning about a program's call at the program's line instead of at a hook's line.

    Args:
        original: The function that shows a warning.
        message: The warning.
        category: The warning's class.
        filename: The file to which Python attributes the warning.
        line: The line in that file.
        *rest: The remaining arguments of ``warnings.showwarning``.
    """
    is_in_hook = filename.startswith(FOLDER_OF_HOOKS)
    original(message, category, *(find_user_site() if is_in_hook else (filename, line)), *rest)
