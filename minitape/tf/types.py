"""``tf.types``: what functions are called with, and what they are. Here is which module holds which name."""

from ..engine.namespace import Namespace as _Namespace
from ..engine.namespace import lazy as _lazy

experimental = _Namespace("tf.types.experimental", {
    "graphs.kinds": "Callable ConcreteFunction FunctionType GenericFunction PolymorphicFunction SupportsTracingProtocol "
                    "TensorLike TraceType",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.types", {}, globals())
