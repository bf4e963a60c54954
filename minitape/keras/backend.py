"""``tf.keras.backend``: the global settings, dtypes and names of Keras, and the functions that Keras 2 had here.

Here is who holds which name.

>>> import minitape as tf
>>> tf.keras.backend.floatx()
'float32'
"""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.backend", {
    "keras.base": "backend clear_session epsilon floatx get_uid image_data_format is_float_dtype is_int_dtype "
                  "is_keras_tensor name_scope result_type set_epsilon set_floatx set_image_data_format "
                  "standardize_dtype",
    "keras.legacy": "abs all any arange argmax argmin batch_flatten bias_add binary_crossentropy cast "
                    "categorical_crossentropy clip concatenate constant cos count_params cumprod cumsum dot dropout "
                    "dtype elu equal eval exp expand_dims eye flatten foldl gather get_value gradients greater "
                    "greater_equal hard_sigmoid int_shape l2_normalize less less_equal log map_fn max maximum mean min "
                    "minimum ndim not_equal one_hot ones ones_like permute_dimensions pow prod random_normal "
                    "random_uniform relu repeat_elements reshape reverse round set_value shape sigmoid sign sin "
                    "softmax softplus softsign sparse_categorical_crossentropy sqrt square squeeze stack std "
                    "stop_gradient sum switch tanh tile transpose update update_add update_sub var variable zeros "
                    "zeros_like",
}, globals())  # fmt: skip
