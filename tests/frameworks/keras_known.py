"""Known defects of Keras' layers as small models, each with what has to be said of a backend."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Config = dict[str, Any]


@dataclass
class Network:
    """Layers one after the other, with the input of the first and weights by place."""

    x: Array
    layers: list[tuple[str, Config]]
    weights: dict[int, list[Array]] = field(default_factory=dict)
    single: bool = False  # in single precision, which a config without weights has

    def name(self, place: int) -> str:
        """Return the name of a layer."""
        return f"{self.layers[place][0].lower()}_{place}"

    def line(self) -> str:
        """Return the model as a case line."""
        names = ["x"] + [self.name(place) for place in range(len(self.layers))]
        layers = [
            {"class": one, "config": config, "name": names[i + 1], "inputs": [names[i]]}
            for i, (one, config) in enumerate(self.layers)
        ]
        weights = {
            self.name(place): [one.tolist() for one in arrays]
            for place, arrays in self.weights.items()
        }
        return json.dumps(
            {
                "id": "model",
                "layers": layers,
                "weights": weights,
                "inputs": {"x": self.x.tolist()},
                "model_inputs": ["x"],
                "input_shapes": {"x": list(self.x.shape[1:])},
                "output": names[-1],
            }
        )

    def config(self) -> str:
        """Return the model as Keras writes down a Sequential."""
        given = {"batch_input_shape": [None, *self.x.shape[1:]], "dtype": "float32", "name": "x"}
        layers = [{"class_name": "InputLayer", "config": given}]
        for i, (one, config) in enumerate(self.layers):
            layers.append({"class_name": one, "config": {**config, "name": self.name(i)}})
        return json.dumps(
            {"class_name": "Sequential", "config": {"layers": layers}, "keras_version": "2.4.0"}
        )

    def write(self, folder: Path) -> list[str]:
        """Write the model to a file; return what a command is told of it."""
        if not self.single:
            (folder / "models.jsonl").write_text(self.line() + "\n")
            return [f"{folder / 'models.jsonl'}#model"]
        (folder / "model.json").write_text(self.config())
        np.savez(folder / "x.npz", x=self.x.astype(np.float32))
        return [str(folder / "model.json"), "--data", str(folder / "x.npz"), "--random"]


@dataclass
class Known:
    """A network that some backends get wrong: of each the variant that explains it, if one does."""

    network: Network
    wrong: dict[str, str | None]
    right: tuple[str, ...] = ()
    place: int = 0  # of the layer to which it is localised


def counted(*shape: int) -> Array:
    """Return 0, 1, 2, … in a shape."""
    return np.arange(math.prod(shape), dtype=float).reshape(shape)


def drawn(*shape: int) -> Array:
    """Return small whole numbers."""
    return np.random.default_rng(7).integers(-4, 5, shape).astype(float)


def conv(x: Array, kernel: Array, op: str = "Conv2D", **config: Any) -> Network:
    """Return a convolution with a bias of zeros, between two layers that pass its values on."""
    first = kernel.shape[:-2]
    filters = kernel.shape[-2 if op.endswith("Transpose") else -1]
    own = {"filters": filters, "kernel_size": list(first), **config}
    around: tuple[str, Config] = ("Activation", {"activation": "linear"})
    return Network(x, [around, (op, own), around], {1: [kernel, np.zeros(filters)]})


def pool(x: Array, op: str, size: int, stride: int) -> Network:
    """Return a pool with padding."""
    config = {"pool_size": [size, size], "strides": [stride, stride], "padding": "same"}
    return Network(x, [(op, config)])


def normalized(epsilon: float) -> Network:
    """Return a batch normalisation of a small variance."""
    weights = [np.full(2, one) for one in (1.0, 0.0, 0.0, 0.01)]
    return Network(np.ones((1, 2)), [("BatchNormalization", {"epsilon": epsilon})], {0: weights})


def depthwise() -> Network:
    """Return a convolution of three channels that are not alike, with an even kernel."""
    config = {"kernel_size": [2, 2], "padding": "same"}
    weights = {0: [drawn(2, 2, 3, 1), np.zeros(3)]}
    return Network(drawn(1, 4, 4, 3), [("DepthwiseConv2D", config)], weights)


def lstm() -> Network:
    """Return a recurrence of two units."""
    weights = [np.full((2, 8), 0.5), np.full((2, 8), 0.5), np.zeros(8)]
    config = {"units": 2, "recurrent_activation": "hard_sigmoid"}
    return Network(counted(1, 3, 2) / 4, [("LSTM", config)], {0: weights})


def conv_lstm() -> Network:
    """Return one step of a recurrence of convolutions."""
    weights = [np.full((1, 1, 1, 4), 0.5), np.full((1, 1, 1, 4), 0.5), np.zeros(4)]
    config = {"filters": 1, "kernel_size": [1, 1], "recurrent_activation": "hard_sigmoid"}
    return Network(np.ones((1, 1, 1, 1, 1)), [("ConvLSTM2D", config)], {0: weights})


OTHER_SIDE = "pads-on-the-other-side"
RELU = Network(
    np.array([[1.5, 0.5, -0.5, -1.5]]),
    [("ReLU", {"max_value": 1.0, "threshold": -1.0, "negative_slope": 1.0})],
)
ONES = np.ones((3, 3, 1, 1))

# What is wrong in Keras 2.3.1, 2.1.4 and TensorFlow 2.4.1, by the layer's own meaning.
INCONSISTENT = {
    "AveragePooling2D with strides pads on the other side": Known(
        pool(counted(1, 8, 8, 1), "AveragePooling2D", 3, 2),
        {"keras2-theano": OTHER_SIDE, "keras2-cntk": OTHER_SIDE},
        ("keras2-tensorflow",),
    ),
    "AveragePooling2D counts the padding": Known(
        pool(np.ones((1, 4, 4, 1)), "AveragePooling2D", 3, 1),
        {"keras2.1-theano": "padding-is-counted"},
        ("keras2.1-cntk",),
    ),
    "MaxPooling2D with an even window is shifted": Known(
        pool(-counted(1, 8, 8, 1), "MaxPooling2D", 2, 1),
        {"keras2-theano": OTHER_SIDE},
        ("keras2-tensorflow", "keras2-cntk"),
    ),
    "Conv2D with an even kernel is shifted": Known(
        conv(counted(1, 8, 8, 1), np.ones((2, 2, 1, 1)), padding="same"),
        {"keras2-theano": OTHER_SIDE},
        ("keras2-tensorflow", "keras2-cntk"),
        place=1,
    ),
    "Conv2D with strides pads on the other side": Known(
        conv(counted(1, 8, 8, 1), ONES, padding="same", strides=[2, 2]),
        {"keras2-theano": OTHER_SIDE, "keras2-cntk": OTHER_SIDE},
        ("keras2-tensorflow",),
        place=1,
    ),
    "so did Keras 2.1": Known(
        conv(counted(1, 8, 8, 1), ONES, padding="same", strides=[2, 2]),
        {"keras2.1-theano": OTHER_SIDE, "keras2.1-cntk": OTHER_SIDE},
        place=1,
    ),
    "Conv2DTranspose with strides pads on the other side": Known(
        conv(counted(1, 4, 4, 1), ONES, "Conv2DTranspose", padding="same", strides=[2, 2]),
        {"keras2-theano": OTHER_SIDE, "keras2-cntk": OTHER_SIDE},
        ("keras2-tensorflow",),
        place=1,
    ),
    "BatchNormalization adds epsilon to the deviation": Known(
        normalized(0.1),
        {"keras2.1-cntk": "epsilon-outside-the-root"},
        ("keras2.1-tensorflow", "keras2.1-theano"),
    ),
    "DepthwiseConv2D reads the first channel alone": Known(
        depthwise(),
        {"keras2-cntk": "first-channel-only", "keras2-theano": OTHER_SIDE},
        ("keras2-tensorflow",),
    ),
    "LSTM returns its cell state": Known(
        lstm(), {"keras2-cntk": "cell-state-returned"}, ("keras2-tensorflow", "keras2-theano")
    ),
    "ConvLSTM2D returns its cell state": Known(
        conv_lstm(), {"keras2-cntk": "cell-state-returned"}, ("keras2-theano",)
    ),
    "Conv3DTranspose has the kernel of another backend": Known(
        conv(counted(1, 2, 2, 2, 1), counted(2, 2, 2, 1, 1), "Conv3DTranspose"),
        {"keras2-theano": "kernels-turned"},
        ("keras2-tensorflow", "keras2-cntk"),
        place=1,
    ),
    "Conv3DTranspose ignores dilation": Known(
        conv(
            counted(1, 3, 3, 3, 2), drawn(2, 2, 2, 2, 2), "Conv3DTranspose", dilation_rate=[2, 2, 2]
        ),
        {"tfkeras-2.4": "dilations-ignored"},
        place=1,
    ),
    "ReLU clips at zero what a negative threshold keeps": Known(
        RELU,
        dict.fromkeys(
            ("tfkeras-2.4", "keras2-tensorflow", "keras2-theano", "keras2-cntk"), "clipped-at-zero"
        ),
    ),
}


@dataclass
class Invalid:
    """A network that is not valid: who runs it all the same, dies of it, or refuses it."""

    network: Network
    accepted: tuple[str, ...] = ()
    killed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


IMAGE = counted(1, 4, 4, 2)
SOLID = counted(1, 4, 4, 4, 2)
NOTHING = {"pool_size": [0, 0, 0], "strides": [1, 1, 1]}
SQUARE = (np.ones((2, 2, 2, 2)), np.zeros(2))


def one(x: Array, op: str, *weights: Array, **config: Any) -> Network:
    """Return a network of one layer."""
    return Network(x, [(op, config)], {0: list(weights)} if weights else {})


INVALID = {
    "a dilation of zero": Invalid(
        one(IMAGE, "Conv2D", *SQUARE, filters=2, kernel_size=[2, 2], dilation_rate=[0, 0]),
        accepted=("keras2-theano",),
        refused=("keras2-tensorflow", "keras2-cntk"),
    ),
    "a kernel of no size": Invalid(
        one(IMAGE, "Conv2D", filters=2, kernel_size=[0, 0]),
        killed=("keras2-tensorflow",),
        refused=("keras2-theano", "keras2-cntk"),
    ),
    "a kernel of no size for each channel": Invalid(
        one(IMAGE, "DepthwiseConv2D", kernel_size=[0, 0]),
        accepted=("keras2-tensorflow",),
        refused=("keras2-theano", "keras2-cntk"),
    ),
    "means of nothing": Invalid(
        one(IMAGE, "AveragePooling2D", pool_size=[0, 0], strides=[1, 1]),
        accepted=("keras2-tensorflow", "keras2-cntk", "tfkeras-2.4"),
        refused=("keras2-theano",),
    ),
    "maxima of nothing": Invalid(
        one(IMAGE, "MaxPooling2D", pool_size=[0, 0], strides=[1, 1]),
        accepted=("keras2-cntk",),
        refused=("keras2-tensorflow", "keras2-theano", "tfkeras-2.4"),
    ),
    "a window larger than the image": Invalid(
        one(IMAGE, "MaxPooling2D", pool_size=[9, 9]),
        accepted=("keras2-theano",),
        refused=("keras2-tensorflow", "keras2-cntk"),
    ),
    "a negative epsilon": Invalid(
        Network(np.ones((1, 4)), [("BatchNormalization", {"epsilon": -2.0})], single=True),
        accepted=("keras2-tensorflow", "keras2-cntk", "tfkeras-2.4"),
        refused=("keras2-theano",),
    ),
    "means of nothing in a solid": Invalid(
        Network(SOLID, [("AveragePooling3D", NOTHING)], single=True),
        killed=("tfkeras-2.4",),
    ),
    "maxima of nothing in a solid": Invalid(
        Network(SOLID, [("MaxPooling3D", NOTHING)], single=True),
        killed=("tfkeras-2.4",),
    ),
    "no multiplier": Invalid(
        one(IMAGE, "SeparableConv2D", filters=2, kernel_size=[2, 2], depth_multiplier=0),
        killed=("tfkeras-2.4",),
    ),
    "no groups": Invalid(
        one(IMAGE, "Conv2D", *SQUARE, filters=2, kernel_size=[2, 2], groups=0),
        accepted=("tfkeras-2.4",),
    ),
    "a negative cropping": Invalid(
        one(IMAGE, "Cropping2D", cropping=[[-1, -1], [-1, -1]]), accepted=("tfkeras-2.4",)
    ),
    "a cropping that leaves nothing": Invalid(
        Network(
            IMAGE,
            [("Cropping2D", {"cropping": [[2, 2], [2, 2]]}), ("GlobalAveragePooling2D", {})],
        ),
        accepted=("tfkeras-2.4",),
    ),
    "a cropping that leaves nothing, flattened": Invalid(
        Network(
            counted(1, 4, 2),
            [("Cropping1D", {"cropping": [2, 2]}), ("Flatten", {}), ("Dense", {"units": 2})],
        ),
        accepted=("tfkeras-2.4",),
    ),
}


def unrolled() -> Network:
    """Return a recurrence that is written out step by step."""
    weights = [np.full((2, 6), 0.5), np.full((2, 6), 0.25), np.zeros(6)]
    config = {
        **{"units": 2, "reset_after": False, "recurrent_activation": "hard_sigmoid"},
        **{"unroll": True, "stateful": True, "dropout": 0.2, "recurrent_dropout": 0.2},
    }
    return Network(counted(2, 3, 2) / 8, [("GRU", config)], {0: weights})


# Networks that are right, and that a backend cannot build or run.
REFUSED = {
    "a kernel larger than the image, turned round": (
        conv(IMAGE[:, :2, :2], drawn(5, 5, 2, 2), "Conv2DTranspose", padding="same"),
        {"keras2-cntk": 1},
        ("keras2-tensorflow", "keras2-theano"),
    ),
    "a recurrence without a loop that keeps its state": (
        unrolled(),
        {"keras2-tensorflow": 0, "keras2-cntk": 0},
        ("keras2-theano",),
    ),
}


def conv_lstm_of_two_steps() -> Network:
    """Return a recurrence whose padding is on the right: a convention, and no defect."""
    x = np.array([[0, 0, 2], [0, 0, 1]], float).reshape(1, 2, 1, 3, 1)
    weights = [np.ones((1, 2, 1, 4)), np.ones((1, 2, 1, 4)), np.zeros(4)]
    linear = dict.fromkeys(("activation", "recurrent_activation"), "linear")
    config = {"filters": 1, "kernel_size": [1, 2], **linear}
    return Network(x, [("ConvLSTM2D", config)], {0: weights})
