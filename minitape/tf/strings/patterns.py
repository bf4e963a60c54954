"""Regular expressions: RE2's messages and rewrites, over Python's engine."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

from ...engine.invalid import invalid


def _text(value: Any) -> str:
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


@functools.lru_cache(256)
def compile_pattern(pattern: str, op: str) -> re.Pattern[str]:
    """The compiled pattern; InvalidArgumentError with RE2's words for a bad one."""
    try:
        return re.compile(translated(pattern), re.ASCII)
    except re.error as error:
        raise invalid(f"Invalid pattern: {pattern}, error: {_reason(error, pattern)}", op) from None
    except NotInRE2 as error:
        raise invalid(f"Invalid pattern: {pattern}, error: {error}", op) from None


class NotInRE2(ValueError):
    """What Python's patterns have and RE2's have not."""


TOKEN = re.compile(r"\\[pP](?:\{\^?\w+\}|\w)|\\Q.*?(?:\\E|$)|\\.|\[:\^?\w+:\]|\(\?[<=!]|.", re.DOTALL)
POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r"\t\n\v\f\r ",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


def translated(pattern: str) -> str:
    """What RE2 writes differently, as Python writes it: classes such as ``[:alpha:]``, ``\\pL``, ``\\z``, ``\\Q..\\E``.

    >>> translated("[[:digit:]x]+$")
    '[0-9x]+\\\\Z'
    """
    out: list[str] = []
    inside = -1  # where in ``out`` an open class begins
    lines = re.match(r"\(\?\w*m\w*[:)]", pattern) is not None  # "$" then ends each line
    for token in TOKEN.findall(pattern):
        if token[:2] in ("\\p", "\\P"):
            body = _category(token[2:].strip("{}"), token[1] == "P")
            out.append(body if inside >= 0 else f"[{body}]")
        elif token.startswith("\\Q"):
            out.append(re.escape(token[2:].removesuffix("\\E")))
        elif token == "\\Z" or (token[0] == "\\" and token[1:].isdecimal() and token != "\\0"):
            raise NotInRE2(f"invalid escape sequence: {token}")
        elif token == "\\z":
            out.append("\\Z")
        elif inside >= 0:
            first = len(out) - inside == 1 or (len(out) - inside == 2 and out[-1] == "^")
            ends = token == "]" and not first
            out.append(token if ends else _in_class(token))
            inside = -1 if ends else inside
        elif token.startswith("[:"):  # a class of these letters
            out.append(token)
        elif token[:2] == "(?" and len(token) == 3:
            raise NotInRE2(f"invalid perl operator: {token}")
        elif token == "[":
            inside = len(out)
            out.append(token)
        else:
            out.append("\\Z" if token == "$" and not lines else token)
    return "".join(out)


def _in_class(token: str) -> str:
    """A token between brackets."""
    if token.startswith("[:"):
        name = token[2:-2]
        if name.removeprefix("^") not in POSIX:
            raise NotInRE2(f"invalid character class range: {token}")
        return _others(POSIX[name[1:]]) if name[0] == "^" else POSIX[name]
    return f"\\{token}" if token in ("[", "&", "|", "~") else token


def _others(body: str) -> str:
    """The characters that a class does not hold, as ranges."""
    return _ranges(lambda c: re.match(f"[{body}]", c) is None)


@functools.lru_cache(64)
def _category(name: str, negated: bool) -> str:
    """The characters of a Unicode category such as ``L`` or ``Lu``, as ranges."""
    if name.startswith("^"):
        name, negated = name[1:], not negated
    if len(name) > 2:
        raise NotInRE2(f"invalid character class range: \\p{{{name}}}")
    return _ranges(lambda c: unicodedata.category(c).startswith(name) != negated)


def _ranges(kept: Callable[[str], bool]) -> str:
    marks = [kept(chr(i)) for i in range(sys.maxunicode + 1)]
    out, start = [], None
    for i, mark in enumerate([*marks, False]):
        if mark and start is None:
            start = i
        elif not mark and start is not None:
            out.append(f"\\U{start:08x}-\\U{i - 1:08x}")
            start = None
    return "".join(out)


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
        out, end = [], 0
        for count, match in enumerate(compiled.finditer(text)):
            if count and match.start() == match.end() == end:  # RE2 finds nothing right behind what it found
                continue
            out += [text[end : match.start()], fill(match)]
            end = match.end()
            if not everywhere:
                break
        return "".join([*out, text[end:]]).encode("utf-8", "surrogateescape")

    return replace
