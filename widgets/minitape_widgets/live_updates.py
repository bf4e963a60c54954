"""Keep views up to date while a cell runs.

One thread checks all views every 40 ms. In a Python without threads, as in a browser, the listener that notices a
change sends it immediately.

While a tape records, the thread sends only a few rows in each turn, so that it hardly slows down the recording. It
sends the rest when the block has ended. Messages are numbered, so a browser that misses some can request them again
(``TapeView.on_request``).
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

from minitape.common.threads import start_thread

if TYPE_CHECKING:
    from .view import TapeView

TURN_SECONDS = 0.04  # The minimum sleep of the thread between turns.
SHORT_TURN_SECONDS = 0.005  # It sleeps less while rows of a recording that has ended are unsent.
ROWS_WHILE_RECORDING = 100  # The maximum number of rows per turn while the tape records.
ROWS_AFTERWARDS = 20_000  # The maximum number of rows per turn afterwards.
REST_WHILE_RECORDING = 3.0  # After a turn of t seconds, the thread sleeps at least 3 t seconds while a tape records.
REST_AFTERWARDS = 0.25  # Afterwards, it sleeps at least t / 4 seconds.
MAX_QUIET_TURNS = 50  # The thread ends after this many turns without news, and the next event starts a new one.

_views: weakref.WeakSet[TapeView] = weakref.WeakSet()
_lock = threading.Lock()
_thread: list[threading.Thread] = []
_news = threading.Event()
_last_sent = [0.0]  # The time at which rows were last sent without the thread.


def keep_view_updated(view: TapeView) -> None:
    """Register a view, so that its new rows are sent to the browser as long as the view exists.

    Args:
        view: The view. It is not kept alive.
    """
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
    """Wake or restart the sending thread. In a Python without threads, send the news now."""
    _news.set()
    with _lock:
        if _thread and _thread[0].is_alive():
            return
        thread = start_thread(_run_sending_thread, "minitape-views")
        _thread[:] = [] if thread is None else [thread]
    if thread is None:
        _send_news_without_thread()


def _send_news_without_thread() -> None:
    """Send the rows in place of the thread, some every 40 ms while a tape records, and all afterwards."""
    _news.clear()
    is_recording = any(view.picture_source.is_recording for view in _list_views())
    current_time = time.perf_counter()
    if is_recording and current_time < _last_sent[0] + TURN_SECONDS:
        return
    _last_sent[0] = current_time
    while _send_news_of_all_views() and not is_recording:
        pass


def _run_sending_thread() -> None:
    """Send all views' news in turns, until there has been no news for MAX_QUIET_TURNS turns."""
    quiet_turns = 0
    while quiet_turns < MAX_QUIET_TURNS:
        started = time.perf_counter()
        quiet_turns = 0 if _send_news_of_all_views() else quiet_turns + 1
        spent_seconds = time.perf_counter() - started
        _news.clear()
        views = _list_views()
        is_recording = any(view.picture_source.is_recording for view in views)
        is_behind = not is_recording and any(view.has_unsent_rows() for view in views)
        del views  # The sleeping thread must not keep views alive.
        turn_seconds = SHORT_TURN_SECONDS if is_behind else TURN_SECONDS
        rest_ratio = REST_WHILE_RECORDING if is_recording else REST_AFTERWARDS
        time.sleep(max(turn_seconds, rest_ratio * spent_seconds))
        if _news.is_set() or is_recording:
            quiet_turns = 0
    with _lock:
        _thread.clear()
    if _news.is_set():
        notify_sending_thread()


def _list_views() -> list[TapeView]:
    """Return a copy of the set of views, because other threads may create views meanwhile."""
    with _lock:
        return list(_views)


def _send_news_of_all_views() -> bool:
    """Send the news of each view, and return whether there was any."""
    has_sent = False
    for view in _list_views():
        try:
            if view.comm is None:
                _views.discard(view)
                continue
            has_sent |= view.send_news(ROWS_WHILE_RECORDING if view.picture_source.is_recording else ROWS_AFTERWARDS)
        except Exception:  # A view that cannot be read or sent must not stop the others.
            _views.discard(view)
    return has_sent


def flush_view(view: TapeView) -> None:
    """Send all of a view's news immediately, for tests and for the end of a program.

    Args:
        view: The view.
    """
    while view.send_news(None):
        pass
