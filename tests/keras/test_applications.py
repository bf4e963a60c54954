"""``tf.keras.applications``: names of layers, shapes, weights and numbers of parameters are those of TensorFlow 2.21 (Keras 3.15)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

import minitape as tf

# name, include_top, the model's name, parameters, trainable weights, digests of: names of layers, their shapes, names and shapes of weights;
# without the top for images of 96 by 96 with pooling="avg"
MODELS = [
    ("MobileNet", True, "mobilenet_1.00_224", 4253864, 83, "c6856e5976", "a5fd125560", "54a37097ab"),
    ("MobileNet", False, "mobilenet_1.00_96", 3228864, 81, "667ec89476", "94eec44697", "a1a7cf3b67"),
    ("MobileNetV2", True, "mobilenetv2_1.00_224", 3538984, 158, "5e7bf4f18a", "f5470010af", "2fdd5d4cf8"),
    ("MobileNetV2", False, "mobilenetv2_1.00_96", 2257984, 156, "6c24a245c3", "99312758b2", "e154208dce"),
    ("VGG16", False, "vgg16", 14714688, 26, "9a84af38db", "048b518c1d", "36ca483a88"),
    ("VGG19", False, "vgg19", 20024384, 32, "04b2dab7fe", "05636c875c", "ba7ca2bb96"),
    ("ResNet50", False, "resnet50", 23587712, 212, "0b1ce90dbe", "34322b306c", "27d8ed48b0"),
    ("ResNet50V2", False, "resnet50v2", 23564800, 172, "e599977e87", "5c4c90dbf0", "53dc0cc612"),
    ("DenseNet121", True, "densenet121", 8062504, 364, "13b92f81b3", "2a4fa41584", "95c8b4b01f"),
    ("DenseNet121", False, "densenet121", 7037504, 362, "56040e2f29", "43e2ee4997", "4798428dde"),
    ("EfficientNetB0", False, "efficientnetb0", 4049571, 211, "612fa54a32", "bd8d9ba9d6", "f1e1b0d6d9"),
    ("InceptionV3", False, "inception_v3", 21802784, 188, "5cfe709b70", "ec1eb2f981", "21da8c21de"),
    ("Xception", True, "xception", 22910480, 156, "7e4e0df437", "09afae4472", "88e631d179"),
    ("Xception", False, "xception", 20861480, 154, "77b8972136", "36ac61c5d8", "fa1a6fbf31"),
]  # fmt: skip
LARGE = [
    ("VGG16", True, "vgg16", 138357544, 32, "25c121df8e", "3aba517500", "9bba07bf42"),
    ("ResNet50", True, "resnet50", 25636712, 214, "20cbc9def5", "4d8523ef83", "f7fde19db3"),
    ("ResNet50V2", True, "resnet50v2", 25613800, 174, "c831975e3c", "d062754e8e", "93bf66683d"),
    ("ResNet101", False, "resnet101", 42658176, 416, "8d315b0659", "7189cc427e", "e5bc399629"),
    ("ResNet152V2", False, "resnet152v2", 58331648, 512, "fda9d3189f", "5c22b5e657", "b3d861715b"),
    ("DenseNet201", False, "densenet201", 18321984, 602, "8aa715b177", "8bc7e8543e", "deb2e2a920"),
    ("EfficientNetB0", True, "efficientnetb0", 5330571, 213, "70b83de1af", "00b77ae8ec", "ff26cf818e"),
    ("EfficientNetB3", True, "efficientnetb3", 12320535, 340, "c00c3ab7ac", "7a4d208da7", "6b1eb7e3f3"),
    ("EfficientNetB3", False, "efficientnetb3", 10783535, 338, "18cd503ed0", "616ee0d1e3", "aa106d2521"),
    ("InceptionV3", True, "inception_v3", 23851784, 190, "c72175f21b", "cd44e16b8c", "96f8ca3793"),
]  # fmt: skip


def digest(parts: list[str]) -> str:
    return hashlib.md5(",".join(parts).encode()).hexdigest()[:10]


@pytest.fixture(autouse=True)
def fresh_names() -> None:
    tf.keras.backend.clear_session()


@pytest.mark.parametrize("model", [*MODELS, *(pytest.param(one, marks=pytest.mark.long) for one in LARGE)], ids=lambda m: f"{m[0]}-{m[1]}")
def test_as_in_keras(model: tuple[Any, ...]) -> None:
    name, top, *wanted = model
    small = {} if top else {"input_shape": (96, 96, 3), "pooling": "avg"}
    made = getattr(tf.keras.applications, name)(weights=None, include_top=top, **small)
    names = [layer.name for layer in made.layers]
    shapes = ["" if isinstance(layer.output, list) else str(tuple(layer.output.shape)) for layer in made.layers]
    weights = [w.path.split("/")[-1] + str(tuple(w.shape)) for w in made.weights]
    found = [made.name, made.count_params(), len(made.trainable_weights), digest(names), digest(shapes), digest(weights)]
    assert found == wanted


def small(**options: Any) -> Any:
    return tf.keras.applications.MobileNetV2(input_shape=(32, 32, 3), alpha=0.35, include_top=False, pooling="avg", **options)


def test_as_a_base_that_is_not_trained() -> None:
    base = small(weights=None)
    base.trainable = False
    model = tf.keras.Sequential([base, tf.keras.layers.Dense(2)])
    images = np.random.default_rng(0).normal(size=(2, 32, 32, 3)).astype(np.float32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images, training=False) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    assert [g.shape for g in gradients] == [(1280, 2), (2,)]
    assert tape.explain(loss, model.trainable_variables)[0].connected


def test_weights_of_imagenet_are_random_and_that_is_said_once(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    names = [small(weights="imagenet", name=f"m{k}").name for k in range(2)]
    assert names == ["m0", "m1"]
    said = caplog.text + capsys.readouterr().err
    assert said.count("networks with random weights") <= 1  # another test may have heard it


def test_weights_of_a_file(tmp_path: Any) -> None:
    one = small(weights=None)
    path = str(tmp_path / "one.weights.h5")
    one.save_weights(path)
    two = small(weights=path)
    assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(one.weights, two.weights, strict=True))


def test_what_is_refused() -> None:
    applications = tf.keras.applications
    with pytest.raises(ValueError, match="The `weights` argument should be either"):
        applications.VGG16(weights="none/of/these")
    with pytest.raises(ValueError, match="`classes` should be 1000"):
        applications.VGG16(classes=10)
    with pytest.raises(ValueError, match="Input size must be at least 75x75"):
        applications.InceptionV3(weights=None, include_top=False, input_shape=(32, 32, 3))
    with pytest.raises(ValueError, match="`input_shape` should be \\(224, 224, 3\\)"):
        applications.VGG16(input_shape=(32, 32, 3))


def test_pixels() -> None:
    """The formulas of Keras' documentation, written out."""
    pixels = np.random.default_rng(0).uniform(0, 255, (2, 3, 3, 3)).astype(np.float32)
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    wanted = {
        "vgg16": pixels[..., ::-1] - np.array([103.939, 116.779, 123.68]),
        "mobilenet_v2": pixels / 127.5 - 1.0,
        "densenet": (pixels / 255.0 - mean) / deviation,
        "efficientnet": pixels,
    }
    for name, want in wanted.items():
        preprocess = getattr(tf.keras.applications, name).preprocess_input
        for given in (pixels.copy(), tf.constant(pixels)):
            assert np.allclose(np.asarray(preprocess(given)), want, atol=1e-4)


def test_gradients_pass_the_scaling() -> None:
    x = tf.Variable(tf.ones([1, 2, 2, 3]) * 100.0)
    for name in ("vgg16", "mobilenet_v2", "densenet"):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(getattr(tf.keras.applications, name).preprocess_input(x * 1.0))
        assert tape.gradient(y, x) is not None
