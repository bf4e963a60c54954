"""Functions of ``tf`` whose arguments TensorFlow 1 orders or calls otherwise, made from lines of text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...engine.invalid import unsupported
from ...engine.namespace import lazy, load
from ...engine.operands import named, worded


def respelled(holder: str, table: str, home: str) -> dict[str, Any]:
    """Functions of ``tf`` (of ``tf.nn`` for the holder "nn") that take TensorFlow 1's arguments, of the module ``home``.

    A line of ``table`` is a function's name, ``name=theirs`` where ``tf`` calls it otherwise, and TensorFlow 1's
    arguments in their order. ``old=new`` is one that ``tf`` calls otherwise; beside ``new`` it is a second name of it.
    ``old-`` has no effect, and ``old!`` raises NotImplementedError when it is given. An argument that is None counts as
    not given.

    >>> softmax = respelled("nn", "softmax logits axis name dim=axis", __name__)["softmax"]
    >>> softmax([[0.0, 0.0], [1.0, 1.0]], dim=0)[0, 0].numpy() < 0.5
    np.True_
    """
    found = {}
    for line in table.strip().splitlines():
        entry, *arguments = line.split()
        name, _, theirs = entry.partition("=")
        path = "tf." + f"{holder}.".removeprefix(".") + (theirs or name)
        function = load(holder, theirs or name)
        made = _taking(function, name, [_argument(text) for text in arguments])
        words = ", ".join(f"``{text.partition('=')[0].rstrip('-!')}``" for text in arguments)
        doc = f"""As ``{path}``, with the arguments of TensorFlow 1: {words}.\n\n{inspect.getdoc(function)}"""
        found[name] = worded(named(made, name, doc, home))
    return found


def either(new: str, value: Any, old: str, former: Any) -> Any:
    """What an argument with two names was given under one of them; ValueError where it was given under both."""
    if value is not None and former is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{new}'.")
    return former if value is None else value


def _argument(text: str) -> tuple[str, str]:
    """An argument of TensorFlow 1 and what it becomes: a name, "" for no effect, "!" for one that is refused."""
    if text[-1] in "-!":
        return text[:-1], "!" if text[-1] == "!" else ""
    old, _, new = text.partition("=")
    return old, new or old


def _taking(function: Callable[..., Any], name: str, arguments: list[tuple[str, str]]) -> Callable[..., Any]:
    becomes = dict(arguments)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(old, kind, default=None) for old in becomes])

    def called(*args: Any, **kwargs: Any) -> Any:
        passed: dict[str, Any] = {}
        for old, value in signature.bind(*args, **kwargs).arguments.items():
            new = becomes[old]
            if new == "!":
                unsupported(name, **{old: value})
            elif new and value is not None:
                passed[new] = either(new, passed.get(new), old, value)
        return function(**passed)

    called.__signature__ = signature
    return called


def namespace(name: str, space: dict[str, Any], table: str, homes: dict[str, str] | None = None,
              without: str = "") -> tuple[Callable[[str], Any], Callable[[], list[str]]]:  # fmt: skip
    """``__getattr__`` and ``__dir__`` of ``tf.compat.v1.NAME``: that of ``tf`` with the functions of a table instead.

    ``homes`` names further functions, as for ``minitape.engine.namespace.lazy``; ``without`` those that TensorFlow 1 lacks.
    """
    from importlib import import_module

    made = respelled(name, table, space["__name__"])
    space.update(made)
    shared = [n for n in import_module(f"minitape.tf.{name}").__dir__() if n not in {*without.split(), *made}]
    return lazy(f"tf.compat.v1.{name}", homes or {}, space, {n: (f"tf.{name}", n) for n in shared})
