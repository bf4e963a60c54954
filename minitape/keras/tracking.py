"""How a layer finds its weights and inner layers: every attribute that is one, or a list or dictionary of them."""

from __future__ import annotations

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
        self._known: set[int] = set()
        self._locked = False

    def lock(self) -> None:
        """From now on nothing may be added."""
        self._locked = True

    def unlock(self) -> None:
        """Things may be added again."""
        self._locked = False

    def track(self, value: Any) -> Any:
        """Files ``value`` if it is state; lists and dictionaries come back as ones that file what is put in later."""
        if isinstance(value, list):
            return value if isinstance(value, TrackedList) else TrackedList([self.track(v) for v in value], self)
        if isinstance(value, dict):
            return (
                value
                if isinstance(value, TrackedDict)
                else TrackedDict({k: self.track(v) for k, v in value.items()}, self)
            )
        if type(value) is tuple:
            return tuple(self.track(v) for v in value)
        self.add(value)
        return value

    def add(self, value: Any) -> None:
        """Files a variable, layer, metric or seed generator; anything else is let be."""
        home = self._home(value)
        if home is None or id(value) in self._known:
            return
        if self._locked:
            raise ValueError(LOCKED)
        self._known.add(id(value))
        home.append(value)

    def _home(self, value: Any) -> list[Any] | None:
        from .layer import Layer
        from .metrics import Metric
        from .seeds import SeedGenerator
        from .variable import Variable

        if isinstance(value, Variable):
            return self.was_trainable if value.trainable else self.not_trainable
        if isinstance(value, Metric):
            return self.metrics
        if isinstance(value, Layer):
            return self.layers
        return self.seeds if isinstance(value, SeedGenerator) else None


def might_track(value: Any) -> bool:
    """False for the plain values that most attributes are."""
    return not isinstance(value, (str, int, float, bool, type(None)))


class TrackedList(list):
    """A list that tells its layer of what is added."""

    def __init__(self, values: Any = (), store: Store | None = None) -> None:
        super().__init__(values)
        self._store = store

    def _tell(self, value: Any) -> Any:
        return value if self._store is None else self._store.track(value)

    def append(self, value: Any) -> None:
        """Adds one value at the end."""
        super().append(self._tell(value))

    def insert(self, index: Any, value: Any) -> None:
        """Adds one value before ``index``."""
        super().insert(index, self._tell(value))

    def extend(self, values: Any) -> None:
        """Adds several values at the end."""
        super().extend([self._tell(v) for v in values])

    def __iadd__(self, values: Any) -> Any:
        self.extend(values)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, self._tell(value))


class TrackedDict(dict):
    """A dictionary that tells its layer of what is added."""

    def __init__(self, values: Any = (), store: Store | None = None) -> None:
        super().__init__(values)
        self._store = store

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value if self._store is None else self._store.track(value))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds several values."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value
