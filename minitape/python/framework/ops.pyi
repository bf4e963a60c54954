"""The names of `tf.python.framework.ops`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.functions.tf1_graph import (
    Graph as Graph,
    RegisterGradient as RegisterGradient,
    get_default_graph as get_default_graph,
)
from minitape.tf.tensorflow1 import (
    name_scope as name_scope,
    op_scope as op_scope,
)
