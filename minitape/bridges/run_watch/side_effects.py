"""Notice when a program affects anything outside its process, because a second run would have the same effect again."""

import os
import sys
from collections.abc import Callable
from tempfile import gettempdir
from typing import Any

WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
IGNORED_PATHS = "__pycache__ /dev/ /proc/ torchinductor /.triton/ /.cache/".split()
FILE_EVENTS = "os.remove os.rename os.rmdir shutil.rmtree os.truncate".split()
PROCESS_EVENTS = "subprocess.Popen os.system os.exec os.posix_spawn".split()
NETWORK_EVENTS = ("socket.connect", "socket.bind", "socket.sendto")
PATH_TYPES = (str, bytes, os.PathLike)

_listeners: list[Callable[[str], object]] = []
_installed: list[bool] = []


class SideEffects:
    """Notices a program's side effects.

    Attributes:
        first: The first side effect, such as "open('log.txt')", or "" if there was none.
        on_effect: A function that is called with each side effect.
    """

    def __init__(self, on_effect: Callable[[str], object] = lambda effect: None):
        """Prepare to notice side effects."""
        self.first = ""
        self.on_effect = on_effect

    def start_noticing(self) -> None:
        """Start noticing side effects. All listeners share one audit hook, because Python cannot remove audit hooks."""
        gettempdir()  # The first call to gettempdir() writes a test file, which would otherwise count as a side effect.
        if not _installed:
            _installed.append(True)
            sys.addaudithook(_pass_side_effects_to_listeners)
        _listeners.append(self.report_effect_and_remember_first)

    def stop_noticing(self) -> None:
        """Stop noticing side effects."""
        if self.report_effect_and_remember_first in _listeners:
            _listeners.remove(self.report_effect_and_remember_first)

    def report_effect_and_remember_first(self, effect: str) -> None:
        """Report each side effect, and remember the first one.

        Args:
            effect: The call that has the side effect.
        """
        self.first = self.first or effect
        self.on_effect(effect)


def _pass_side_effects_to_listeners(
    event: str, args: tuple[Any, ...]
) -> None:  # The type is Any, because the arguments depend on the event.
    """Pass side effects on to the listeners. This must be fast, because Python calls it for each audited event."""
    if not _listeners:
        return
    effect = ""
    if event == "open":
        effect = _describe_write(*args[:3])
    elif event in PROCESS_EVENTS or (event in FILE_EVENTS and not _is_cache_or_device(args[0])):
        effect = f"{event}({str(args[0])[:80]!r})"
    elif event in NETWORK_EVENTS:
        # Network addresses are tuples. The addresses of sockets between processes on one machine are paths.
        is_network = len(args) > 1 and isinstance(args[1], tuple)
        effect = event if is_network else ""
    elif event == "builtins.input":
        effect = "input()"
    if effect:
        for listener in [*_listeners]:
            listener(effect)


def _describe_write(path: object, mode: object, flags: object) -> str:
    """Return the call that opens a file for writing, or "" if the file is only read or is a cache."""
    is_write = any(letter in str(mode) for letter in "wax+") if mode else isinstance(flags, int) and flags & WRITE_FLAGS
    if not is_write or not isinstance(path, PATH_TYPES):
        return ""
    return "" if _is_cache_or_device(path) else f"open({os.fsdecode(path)!r})"


def _is_cache_or_device(path: object) -> bool:
    """Return whether a path belongs to a cache or a device. For example, Python renames files in its bytecode cache."""
    return isinstance(path, PATH_TYPES) and any(part in os.fsdecode(path) for part in IGNORED_PATHS)
