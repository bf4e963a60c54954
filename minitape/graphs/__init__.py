"""Graphs: recordings without values.

``build``      Graph, Operation, SymbolicTensor: operations on symbolic tensors append rows instead of computing
``infer``      shapes and dtypes of results, found by running the primitive on cheap stand-ins
``program``    rows compiled to one Python function over arrays, and their replay as eager operations
``effects``    rows that do more than compute: variables' reads and assignments, Python functions, random numbers
``sweep``      gradients inside a graph: the one reverse sweep adds rows
``session``    placeholders, ``Session.run`` and ``tf.gradients``
``function``   ``tf.function``: tracing, signatures, calls under a tape
``control``    ``cond``, ``while_loop`` and their kin
``autograph``  Python's control flow on symbolic tensors, by rewriting the function's source
"""
