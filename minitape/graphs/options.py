"""The options of sessions, as TensorFlow 1 has them."""

from __future__ import annotations

from typing import Any


class _Options:
    """Settings that are kept and have nothing to do: everything runs in this process on the CPU."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _Options()
        setattr(self, name, made)
        return made


class ConfigProto(_Options):
    """The settings of a session; kept, but nothing depends on them.

    >>> import minitape as tf
    >>> tf.compat.v1.ConfigProto(allow_soft_placement=True).allow_soft_placement
    True
    """


class GPUOptions(_Options):
    """The settings of GPUs; kept, but nothing depends on them.

    >>> import minitape as tf
    >>> tf.compat.v1.GPUOptions(allow_growth=True).allow_growth
    True
    """


class RunOptions(_Options):
    """The settings of a run; kept, but nothing depends on them.

    >>> import minitape as tf
    >>> tf.compat.v1.RunOptions(timeout_in_ms=100).timeout_in_ms
    100
    """
