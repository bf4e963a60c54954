"""Graphs: recordings without values.

Building
    ``symbolic``   tensors and operations of a graph: names, dtypes and static shapes, but no values
    ``build``      the graph itself: operations on symbolic tensors append rows instead of computing
    ``infer``      shapes and dtypes of results, found by running the primitive on cheap stand-ins
    ``primitive``  primitives that only graphs have, and how they get their derivative
    ``effects``    rows that do more than compute: variables' reads and assignments, Python functions
    ``sweep``      gradients inside a graph: the one reverse sweep adds rows
    ``later``, ``postponed``, ``slicing``   what depends on sizes and values that only a run knows

Running
    ``program``    the rows that some results need: compiled, or replayed as eager operations
    ``compile``    rows as one generated Python function; runs of single numbers go to the kernel
    ``fuse``       runs of elementwise rows as one compiled loop
    ``failures``   which operation failed, and where the user wrote it
    ``definition`` a graph as plain data

Interfaces
    ``session``, ``variables``, ``scopes``   placeholders, ``Session.run``, ``tf.gradients``, the rest of TensorFlow 1
    ``function``, ``signature``, ``spec``, ``concrete``, ``inline``, ``structured``, ``parts``   ``tf.function``
    ``control``, ``whiles``, ``mapping``, ``arrays``   ``cond``, ``while_loop``, ``map_fn``, ``TensorArray``
    ``body``, ``carried``   the functions in branches and loops, and what passes in and out
    ``autograph``, ``loops``, ``turns``, ``calls``, ``values``   Python's control flow on symbolic tensors
    ``sources``, ``rewrite``, ``exits``, ``liveness``, ``syntax``   functions rewritten for it
    ``streams``    datasets, whose elements are drawn when the graph runs
    ``custom``     ``custom_gradient`` and ``py_function`` inside a graph
"""
