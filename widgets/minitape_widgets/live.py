"""Views that grow while a cell runs: one thread looks at all of them every 40 ms. Where there are no threads (a
browser's Python), whoever brings news sends it.

It never takes more than a small share of the interpreter while a tape is recording, so that recording keeps its
speed: a few rows in each turn, the rest when the block has ended. Rows carry their numbers; a browser that misses some
asks for them again (``TapeView._asked``).
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

from minitape.common.threads import in_background

TURN = 0.04  # seconds between two looks
SHORT = 0.005  # the same, while a recording that has ended is not all sent
SOME = 100  # rows in a turn while the tape is recording
MANY = 20_000  # rows in a turn afterwards
REST = 3.0  # after a turn of t seconds, at least REST * t seconds of rest while a tape is recording
AFTER = 0.25  # the same afterwards
IDLE = 50  # turns without news before the thread ends; the next event starts it again

_views: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.Lock()
_thread: list[threading.Thread] = []
_news = threading.Event()
_sent = [0.0]  # when rows were last sent without the thread


def watch(view: Any) -> None:
    """Keeps ``view`` up to date from now on, as long as it exists."""
    ref = weakref.ref(view)

    def changed() -> None:
        found = ref()
        if found is not None:
            found._note()
            if not _news.is_set():
                wake()

    view._tape.listeners = [*view._tape.listeners, changed]
    record = view._tape._record
    if record is not None:
        record.add_listeners(changed)
    with _lock:
        _views.add(view)
    wake()


def wake() -> None:
    """Tells the thread that there is something to do; starts it where it has ended."""
    _news.set()
    with _lock:
        if _thread and _thread[0].is_alive():
            return
        thread = in_background(_run, "minitape-views")
        _thread[:] = [] if thread is None else [thread]
    if thread is None:
        _send_here()


def _send_here() -> None:
    """Sends what the thread would send: while a tape is recording some rows every 40 ms, afterwards all of them."""
    _news.clear()
    recording = any(view._tape._recording for view in _watched())
    now = time.perf_counter()
    if recording and now < _sent[0] + TURN:
        return
    _sent[0] = now
    while _flow_all() and not recording:
        pass


def _run() -> None:
    quiet = 0
    while quiet < IDLE:
        started = time.perf_counter()
        quiet = 0 if _flow_all() else quiet + 1
        spent = time.perf_counter() - started
        _news.clear()
        views = _watched()
        recording = any(view._tape._recording for view in views)
        behind = not recording and any(view._behind() for view in views)
        del views  # while it sleeps, it keeps none alive
        time.sleep(max(SHORT if behind else TURN, (REST if recording else AFTER) * spent))
        if _news.is_set() or recording:
            quiet = 0
    with _lock:
        _thread.clear()
    if _news.is_set():
        wake()


def _watched() -> list[Any]:
    """The views that there are; others may be made in the meantime."""
    with _lock:
        return list(_views)


def _flow_all() -> bool:
    sent = False
    for view in _watched():
        try:
            if view.comm is None:
                _views.discard(view)
                continue
            sent |= view._flow(SOME if view._tape._recording else MANY)
        except Exception:  # one view that cannot be read or sent must not stop the others
            _views.discard(view)
    return sent


def flush(view: Any) -> None:
    """Sends everything that ``view`` does not have yet; for tests and for the end of a program."""
    while view._flow(None):
        pass
