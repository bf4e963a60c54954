"""Graphs: recordings without values.

Building
    ``symbolic``   tensors and operations of a graph: names, dtypes and static shapes, but no values (``naming``)
    ``build``      the graph itself: operations on symbolic tensors append rows instead of computing
    ``infer``      shapes and dtypes of results, found by running the primitive on cheap stand-ins
    ``primitive``  primitives that only graphs have, and how they get their derivative
    ``effects``    rows that do more than compute: variables' reads and assignments, Python functions
    ``sweep``      gradients inside a graph: the one reverse sweep adds rows
    ``slicing``, ``postponed``   what depends on sizes and values that only a run knows
    ``types``      what the functions here take and give

Running
    ``program``    the rows that some results need: applied to arrays (``speed/`` compiles them), replayed as eager
                   operations, or copied into another graph
    ``failures``   what does not fit, which operation failed, and where the user wrote it

Interfaces
    ``settings``   how functions run, and on what: ``tf.config``, ``tf.device``
    ``session``, ``variables``, ``scopes``, ``gradients``   placeholders, ``Session.run``, the rest of TensorFlow 1
    ``function``, ``concrete``, ``body``   ``tf.function``, its traces, and the graphs in them and in branches and loops
    ``signature``, ``spec``   what functions take
    ``control``, ``whiles``, ``mapping``, ``arrays``   ``cond``, ``while_loop``, ``map_fn``, ``TensorArray``
    ``autograph``, ``loops``, ``calls``, ``values``   Python's control flow on symbolic tensors
    ``sources``, ``rewrite``, ``exits``, ``syntax``   functions rewritten for it
    ``streams``    datasets, whose elements are drawn when the graph runs
    ``custom``     ``custom_gradient`` and ``py_function`` inside a graph
"""
