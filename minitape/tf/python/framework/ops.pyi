"""The names of `tf.tf.python.framework.ops`, for editors: see `python tests/repository/make_stubs.py`."""

from typing import Any as _Any
from minitape.compat.v1.legacy import (
    name_scope as name_scope,
    op_scope as op_scope,
)
from minitape.engine.tensor.convert import (
    convert_to_tensor as convert_to_tensor,
)
from minitape.engine.tensor.tensor import (
    EagerTensor as EagerTensor,
    Tensor as Tensor,
)
from minitape.graphs.build import (
    Graph as Graph,
)
from minitape.graphs.session import (
    get_default_graph as get_default_graph,
    reset_default_graph as reset_default_graph,
)
from minitape.graphs.sweep import (
    no_gradient as _NoGradient,
    RegisterGradient as RegisterGradient,
    no_gradient as no_gradient,
)
from minitape.graphs.symbolic import (
    Operation as Operation,
)
NoGradient = _NoGradient
def NotDifferentiable(op_type: _Any) -> None:
    """Says that operations of a type have no gradient: None passes through them."""

