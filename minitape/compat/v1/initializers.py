"""``tf.compat.v1.initializers``: the initializers of TensorFlow 1 under their short names."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.compat.v1.initializers", {
    "compat.v1.initial": "constant=constant_initializer glorot_normal=glorot_normal_initializer "
                         "glorot_uniform=glorot_uniform_initializer identity ones=ones_initializer orthogonal=orthogonal_initializer "
                         "random_normal=random_normal_initializer random_uniform=random_uniform_initializer "
                         "truncated_normal=truncated_normal_initializer "
                         "uniform_unit_scaling=uniform_unit_scaling_initializer "
                         "variance_scaling=variance_scaling_initializer zeros=zeros_initializer",
    "compat.v1.collections": "global_variables=global_variables_initializer "
                             "local_variables=local_variables_initializer tables_initializer "
                             "variables=variables_initializer",
}, globals())  # fmt: skip
