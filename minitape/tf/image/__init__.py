"""``tf.image``: other sizes, parts and colours of images, how alike they are, and their files (``codecs``, ``png``)."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.image", {
    "tf.image.resizing": "ResizeMethod resize resize_with_pad",
    "tf.image.boxes": "non_max_suppression",
    "tf.image.cropping": "central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box "
                      "resize_with_crop_or_pad rot90 transpose",
    "tf.image.adjusting": "adjust_brightness adjust_contrast adjust_hue adjust_saturation convert_image_dtype "
                       "grayscale_to_rgb per_image_standardization rgb_to_grayscale",
    "tf.image.colors": "adjust_gamma hsv_to_rgb rgb_to_hsv rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb",
    "tf.image.augmentation": "random_brightness random_contrast random_crop random_flip_left_right random_flip_up_down "
                          "random_hue random_saturation stateless_random_brightness stateless_random_contrast "
                          "stateless_random_crop stateless_random_flip_left_right stateless_random_flip_up_down "
                          "stateless_random_hue stateless_random_saturation",
    "tf.image.codecs": "decode_image decode_jpeg decode_png encode_jpeg encode_png",
    "tf.image.patches": "extract_patches",
    "tf.image.similarity": "image_gradients psnr sobel_edges ssim ssim_multiscale total_variation",
}, globals())  # fmt: skip
