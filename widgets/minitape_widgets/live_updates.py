"""Views that grow while a cell runs: one thread looks at all of them every 40 ms. Where there are no threads (a
browser's Python), whoever brings news sends it.

It never takes more than a small share of the interpreter while a tape is recording, so that recording keeps its
speed: a few rows in each turn, the rest when the block has ended. Rows carry their numbers; a browser that misses some
asks for them again (``TapeView.on_request``).
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

from minitape.common.threads import start_thread

if TYPE_CHECKING:
    from .view import TapeView

TURN_SECONDS = 0.04  # seconds between two looks
SHORT_TURN_SECONDS = 0.005  # the same, while a recording that has ended is not all sent
ROWS_WHILE_RECORDING = 100  # rows in a turn while the tape is recording
ROWS_AFTERWARDS = 20_000  # rows in a turn afterwards
REST_WHILE_RECORDING = 3.0  # after a turn of t seconds, at least REST * t seconds of rest while a tape is recording
REST_AFTERWARDS = 0.25  # the same afterwards
MAX_QUIET_TURNS = 50  # turns without news before the thread ends; the next event starts it again

_views: weakref.WeakSet[TapeView] = weakref.WeakSet()
_lock = threading.Lock()
_thread: list[threading.Thread] = []
_news = threading.Event()
_last_sent = [0.0]  # when rows were last sent without the thread


def keep_view_updated(view: TapeView) -> None:
    """Keep ``view`` up to date from now on, as long as it exists."""
    ref = weakref.ref(view)

    def on_change() -> None:
        living_view = ref()
        if living_view is not None:
            living_view.keep_large_arrays()
            if not _news.is_set():
                notify_sending_thread()

    view.picture_source.add_listener(on_change)
    with _lock:
        _views.add(view)
    notify_sending_thread()


def notify_sending_thread() -> None:
    """Tell the thread that there is something to do; starts it where it has ended."""
    _news.set()
    with _lock:
        if _thread and _thread[0].is_alive():
            return
        thread = start_thread(_run_sending_thread, "minitape-views")
        _thread[:] = [] if thread is None else [thread]
    if thread is None:
        _send_news_without_thread()


def _send_news_without_thread() -> None:
    """Send what the thread would send: while a tape is recording some rows every 40 ms, afterwards all of them."""
    _news.clear()
    is_recording = any(view.picture_source.is_recording for view in _list_views())
    current_time = time.perf_counter()
    if is_recording and current_time < _last_sent[0] + TURN_SECONDS:
        return
    _last_sent[0] = current_time
    while _send_news_of_all_views() and not is_recording:
        pass


def _run_sending_thread() -> None:
    quiet_turns = 0
    while quiet_turns < MAX_QUIET_TURNS:
        started = time.perf_counter()
        quiet_turns = 0 if _send_news_of_all_views() else quiet_turns + 1
        spent_seconds = time.perf_counter() - started
        _news.clear()
        views = _list_views()
        is_recording = any(view.picture_source.is_recording for view in views)
        is_behind = not is_recording and any(view.has_unsent_rows() for view in views)
        del views  # while it sleeps, it keeps none alive
        time.sleep(
            max(
                SHORT_TURN_SECONDS if is_behind else TURN_SECONDS,
                (REST_WHILE_RECORDING if is_recording else REST_AFTERWARDS) * spent_seconds,
            )
        )
        if _news.is_set() or is_recording:
            quiet_turns = 0
    with _lock:
        _thread.clear()
    if _news.is_set():
        notify_sending_thread()


def _list_views() -> list[TapeView]:
    """Return the views that there are; others may be made in the meantime."""
    with _lock:
        return list(_views)


def _send_news_of_all_views() -> bool:
    has_sent = False
    for view in _list_views():
        try:
            if view.comm is None:
                _views.discard(view)
                continue
            has_sent |= view.send_news(ROWS_WHILE_RECORDING if view.picture_source.is_recording else ROWS_AFTERWARDS)
        except Exception:  # one view that cannot be read or sent must not stop the others
            _views.discard(view)
    return has_sent


def flush_view(view: TapeView) -> None:
    """Send everything that ``view`` does not have yet; for tests and for the end of a program."""
    while view.send_news(None):
        pass
