"""Regular expressions: RE2's messages and rewrites, over Python's engine."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from ..errors import invalid


def _text(value: Any) -> str:
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


@functools.lru_cache(256)
def compile_pattern(pattern: str, op: str) -> re.Pattern[str]:
    """The compiled pattern; InvalidArgumentError with RE2's words for a bad one."""
    pattern_text = re.sub(r"(?<!\\)\\z", r"\\Z", pattern)
    if re.search(r"\\[1-9]|\(\?<?[=!]", pattern):
        raise invalid(f"Invalid pattern: {pattern}, error: invalid escape sequence or look-around: {pattern}", op)
    try:
        return re.compile(pattern_text, re.ASCII)
    except re.error as error:
        raise invalid(f"Invalid pattern: {pattern}, error: {_reason(error, pattern)}", op) from None


def _reason(error: re.error, pattern: str) -> str:
    at = error.pos or 0
    if "unterminated character set" in error.msg:
        return f"missing ]: {pattern[at:]}"
    if "unterminated subpattern" in error.msg:
        return f"missing ): {pattern}"
    if "unbalanced parenthesis" in error.msg:
        return f"unexpected ): {pattern}"
    if "repeat" in error.msg:
        what = "bad" if "multiple" in error.msg else "no argument for"
        return f"{what} repetition operator: {pattern[at : at + 1] or '*'}"
    if "bad escape (end" in error.msg:
        return "trailing \\"
    if "bad escape" in error.msg:
        return f"invalid escape sequence: {pattern[at : at + 2]}"
    if "bad character range" in error.msg:
        return f"invalid character class range: {error.msg.rsplit(' ', 1)[-1]}"
    return error.msg


def matcher(pattern: Any) -> Callable[[bytes], bool]:
    """Whether all of a string matches."""
    compiled = compile_pattern(_text(pattern), "StaticRegexFullMatch")
    return lambda s: compiled.fullmatch(s.decode("utf-8", "surrogateescape")) is not None


def replacer(pattern: Any, rewrite: Any, everywhere: bool) -> Callable[[bytes], bytes]:
    """A function that replaces what matches."""
    compiled = compile_pattern(_text(pattern), "StaticRegexReplace")
    new = _text(rewrite)

    def fill(match: re.Match[str]) -> str:
        return re.sub(r"\\(\\|\d)", lambda m: "\\" if m[1] == "\\" else match[int(m[1])] or "", new)

    def replace(s: bytes) -> bytes:
        text = s.decode("utf-8", "surrogateescape")
        return compiled.sub(fill, text, count=0 if everywhere else 1).encode("utf-8", "surrogateescape")

    return replace
