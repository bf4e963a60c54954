"""How a layer finds its weights and inner layers: every attribute that is one, or a list, set or dictionary of them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

LOCKED = (
    "You cannot add new elements of state (variables or sub-layers) to a layer that is already built. All state must "
    "be created in the `__init__()` method or in the `build()` method."
)


class Store:
    """The state of one layer, by kind, in the order in which it was added. Locked once the layer is built."""

    def __init__(self) -> None:
        self.was_trainable: list[Any] = []
        self.not_trainable: list[Any] = []
        self.layers: list[Any] = []
        self.metrics: list[Any] = []
        self.seeds: list[Any] = []
        self._locked = False

    def lock(self) -> None:
        """From now on nothing may be added."""
        self._locked = True

    def unlock(self) -> None:
        """Things may be added again."""
        self._locked = False

    def track(self, value: Any) -> Any:
        """Files ``value`` if it is state; lists, sets and dictionaries come back as ones that file what is put in later."""
        if isinstance(value, tuple):
            inner = [self.track(v) for v in value]
            if all(a is b for a, b in zip(inner, value, strict=True)):
                return value
            return type(value)(*inner) if hasattr(value, "_fields") else type(value)(inner)
        for kind, made in ((list, TrackedList), (set, TrackedSet), (OrderedDict, TrackedOrderedDict), (dict, TrackedDict)):
            if isinstance(value, kind):
                return made(value, self)
        self.add(value)
        return value

    def add(self, value: Any) -> None:
        """Files a variable, layer, metric or seed generator; anything else is let be."""
        home = self._home(value)
        if home is None or any(v is value for v in home):
            return
        if self._locked:
            raise ValueError(LOCKED)
        home.append(value)

    def drop(self, value: Any) -> None:
        """Forgets a value."""
        for home in (self.was_trainable, self.not_trainable, self.layers, self.metrics, self.seeds):
            home[:] = [v for v in home if v is not value]

    def _home(self, value: Any) -> list[Any] | None:
        kind = getattr(type(value), "_tracked_as", None)
        if kind == "variables":
            return self.was_trainable if value.trainable else self.not_trainable
        return None if kind is None else getattr(self, kind)


def might_track(value: Any) -> bool:
    """False for the plain values that most attributes are."""
    return not isinstance(value, (str, int, float, bool, type(None)))


class _Tracked:
    """What lists, sets and dictionaries share: they tell the store of a layer what comes and what goes."""

    _store: Store | None = None

    def _come(self, value: Any) -> Any:
        return value if self._store is None else self._store.track(value)

    def _go(self, value: Any) -> Any:
        if self._store is not None:
            self._store.drop(value)
        return value


class TrackedList(_Tracked, list):
    """A list that tells its layer of what is added and taken away."""

    def __init__(self, values: Any = (), store: Store | None = None) -> None:
        self._store = store
        super().__init__([self._come(v) for v in values])

    def append(self, value: Any) -> None:
        """Adds one value at the end."""
        super().append(self._come(value))

    def insert(self, index: Any, value: Any) -> None:
        """Adds one value before ``index``."""
        super().insert(index, self._come(value))

    def extend(self, values: Any) -> None:
        """Adds several values at the end."""
        super().extend([self._come(v) for v in values])

    def __iadd__(self, values: Any) -> Any:
        self.extend(values)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, self._come(value))

    def __delitem__(self, index: Any) -> None:
        for value in self[index] if isinstance(index, slice) else [self[index]]:
            self._go(value)
        super().__delitem__(index)

    def pop(self, index: Any = -1) -> Any:
        """Takes one value away and gives it."""
        return self._go(super().pop(index))

    def remove(self, value: Any) -> None:
        """Takes the first such value away; ValueError when there is none."""
        del self[self.index(value)]

    def clear(self) -> None:
        """Takes all values away."""
        del self[:]


class TrackedSet(_Tracked, set):
    """A set that tells its layer of what is added and taken away."""

    def __init__(self, values: Any = (), store: Store | None = None) -> None:
        self._store = store
        super().__init__([self._come(v) for v in values])

    def add(self, value: Any) -> None:
        """Adds one value."""
        super().add(self._come(value))

    def update(self, *others: Any) -> None:
        """Adds several values."""
        super().update([self._come(v) for values in others for v in values])

    def discard(self, value: Any) -> None:
        """Takes a value away, if it is there."""
        super().discard(self._go(value))

    def remove(self, value: Any) -> None:
        """Takes a value away; KeyError when it is not there."""
        super().remove(value)
        self._go(value)

    def pop(self) -> Any:
        """Takes some value away and gives it."""
        return self._go(super().pop())

    def clear(self) -> None:
        """Takes all values away."""
        while self:
            self.pop()


class _TrackedMapping(_Tracked):
    def __init__(self, values: Any = (), store: Store | None = None) -> None:
        self._store = store
        super().__init__()
        self.update(values)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, self._come(value))

    def __delitem__(self, key: Any) -> None:
        self._go(self[key])
        super().__delitem__(key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds several values."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which is added if it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: Any, *default: Any) -> Any:
        """Takes the value of a key away and gives it; the default, or KeyError, when it is not there."""
        return self._go(super().pop(key, *default))

    def popitem(self, **which: Any) -> Any:
        """Takes the last key away and gives it with its value."""
        key, value = super().popitem(**which)
        return key, self._go(value)

    def clear(self) -> None:
        """Takes all values away."""
        for key in list(self):
            del self[key]


class TrackedDict(_TrackedMapping, dict):
    """A dictionary that tells its layer of what is added and taken away."""


class TrackedOrderedDict(_TrackedMapping, OrderedDict):
    """The same of a dictionary that knows an order."""
