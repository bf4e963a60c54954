"""The user's statements that wrote the rows of a recording: (code, bytecode offset), a line only on request."""

from __future__ import annotations

import sys
from _thread import get_ident
from types import CodeType, FrameType

from .columns import ColumnStore, last_from
from .frames import _OWN, place_of
from .state import state


class Sites(ColumnStore):
    """Columns that know where they were written: ``segments`` says which code was running from which row on."""

    fixed: int | None = None  # the site of all rows while a sweep is recorded
    frame: FrameType | None = None  # the user's frame that wrote the last row; None: look for it, or the site is fixed
    thread: int
    segments: list[tuple[int, CodeType, int | None]]  # (first row, code, the one statement in it or None)

    def current_site(self, frame: FrameType | None = None) -> int:
        """The bytecode offset of the user's statement that runs now, in ``frame`` or around it; notes which code it is
        in. While a sweep is recorded, or a function replayed, its statement is the site of all its rows.
        """
        if self.fixed is not None:
            return self.fixed
        site = state.site
        if site is not None:
            self.begin_segment(*site)
            self.frame = None
            return site[1]
        if frame is None:
            frame = sys._getframe(1)
        last = self.frame
        while frame is not last:
            if not _OWN[(code := frame.f_code).co_filename]:
                segments = self.segments
                if not segments or segments[-1][1] is not code or segments[-1][2] is not None:
                    segments.append((len(self), code, None))
                if self.open and get_ident() == self.thread:
                    self.frame = frame
                break
            outer = frame.f_back
            if outer is None:
                return 0
            frame = outer
        return frame.f_lasti

    def pin(self, site: tuple[CodeType, int] | None) -> None:
        """From now on all rows belong to this statement; None: to those that run."""
        self.fixed = None if site is None or not self.open else site[1]
        if site is not None:
            self.begin_segment(*site)
            self.frame = None

    def begin_segment(self, code: CodeType, fixed: int | None) -> None:
        """From the next row on this code is running, at one statement if ``fixed`` says which."""
        last = self.segments[-1] if self.segments else None
        if last is None or last[1] is not code or last[2] != fixed:
            self.segments.append((len(self), code, fixed))

    def place_of(self, row: int) -> tuple[str, int, CodeType] | None:
        """(file name, line, code) of the user's statement that wrote ``row``."""
        site = self.site_of(row)
        return None if site is None else place_of(*site)

    def site_of(self, row: int) -> tuple[CodeType, int] | None:
        """(code, bytecode offset) of the user's statement that wrote ``row``."""
        if not self.segments or row < self.segments[0][0]:
            return None
        _, code, fixed = last_from(self.segments, row)
        return code, self.cell(row)[3] if fixed is None else fixed
