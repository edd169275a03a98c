"""Records what Keras gives for every layer and argument, as case lines on stdout.

usage: record.py > keras2.jsonl         with the Python of an environment that has TensorFlow 2.4
       record.py > keras3.jsonl         with one that has Keras 3
       record.py --new > new.jsonl      the same, of layers and masks that only Keras 3 has
Weights and inputs are drawn with fixed seeds, in float64.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from new_cases import CATEGORIES, masked_cases, new_cases

if tf.__version__.startswith("2.4."):
    keras, version = tf.keras, 2
else:
    import keras  # type: ignore[no-redef]

    version = 3
keras.backend.set_floatx("float64")

# TensorFlow has no kernel for these in double precision.
SINGLE_PRECISION = (
    "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling3D",
    "AveragePooling3D",
    "MaxPooling3D",
)

if TYPE_CHECKING:
    Config = dict[str, Any]
    Shape = tuple[int, ...]
    Single = tuple[str, Config, Shape]
    Merging = tuple[str, Config, list[Shape]]


def images(rank: int) -> Shape:
    return ((2, 7, 3), (2, 5, 6, 3), (2, 4, 5, 3, 2))[rank - 1]


def windows(rank: int, size: str) -> list[Config]:
    some: list[Config] = [
        {size: 2},
        {size: [2] * rank, "strides": 2},
        {size: 3, "padding": "same"},
        {size: [2, 3, 1][:rank], "strides": [2] * rank, "padding": "same"},
        {size: 3, "strides": 1, "padding": "same"},
    ]
    return some


def convolutions(rank: int) -> list[Config]:
    some = [dict(one, filters=4) for one in windows(rank, "kernel_size")]
    some += [
        {"filters": 2, "kernel_size": 2, "dilation_rate": 2},
        {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "padding": "same"},
        {"filters": 3, "kernel_size": 2, "use_bias": False, "activation": "relu"},
    ]
    if rank == 1:
        some.append({"filters": 2, "kernel_size": 3, "padding": "causal", "dilation_rate": 2})
    if rank == 2:
        some.append({"filters": 4, "kernel_size": 2, "groups": 1, "activation": "softplus"})
    return some


def each_channel(rank: int) -> list[Config]:
    return [
        {"kernel_size": 2, "depth_multiplier": 2},
        {"kernel_size": 3, "strides": 2, "padding": "same", "activation": "tanh"},
        {"kernel_size": 2, "use_bias": False},
    ]


def transposed(rank: int) -> list[Config]:
    return [
        {"filters": 2, "kernel_size": 2},
        {"filters": 2, "kernel_size": 3, "strides": 2},
        {"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"},
        {"filters": 2, "kernel_size": 1, "strides": 3},
        {"filters": 2, "kernel_size": 2, "strides": 3, "padding": "same"},
        {"filters": 3, "kernel_size": 4, "padding": "same", "use_bias": False},
    ]


def recurrent(cell: str) -> list[Config]:
    some: list[Config] = [
        {"units": 3},
        {"units": 2, "return_sequences": True},
        {"units": 2, "go_backwards": True},
        {"units": 2, "go_backwards": True, "return_sequences": True},
        {"units": 2, "use_bias": False, "activation": "relu"},
    ]
    if cell != "SimpleRNN":
        some.append({"units": 2, "recurrent_activation": "hard_sigmoid"})
    if cell == "GRU":
        some += [dict(one, reset_after=False) for one in some]
    return some


def sliding_and_recurrent_cases() -> list[Single]:
    cases: list[Single] = []

    def add(name: str, shape: Shape, *configs: Config) -> None:
        cases.extend((name, config, shape) for config in (configs or ({},)))

    for rank in (1, 2, 3):
        shape = images(rank)
        for pool in ("MaxPooling", "AveragePooling"):
            add(f"{pool}{rank}D", shape, *windows(rank, "pool_size"))
        for pool in ("GlobalMaxPooling", "GlobalAveragePooling"):
            add(f"{pool}{rank}D", shape)
        add(f"ZeroPadding{rank}D", shape, {}, {"padding": 2})
        both = [[1, 2], [0, 1], [2, 0]][:rank]
        add(f"ZeroPadding{rank}D", shape, {"padding": both[0] if rank == 1 else both})
        add(
            f"Cropping{rank}D",
            shape,
            {"cropping": 1},
            {"cropping": [1, 0] if rank == 1 else both[1:2] * rank},
        )
        add(f"UpSampling{rank}D", shape, {"size": 2}, {"size": 3})
        add(f"Conv{rank}D", shape, *convolutions(rank))
        add(f"Conv{rank}DTranspose", shape, *transposed(rank))
        add(f"SpatialDropout{rank}D", shape, {"rate": 0.5})
    add("UpSampling2D", images(2), {"size": [2, 3], "interpolation": "bilinear"})
    for rank in (1, 2):
        add(
            f"SeparableConv{rank}D",
            images(rank),
            *[dict(one, filters=3) for one in each_channel(rank)],
        )
    add("DepthwiseConv2D", images(2), *each_channel(2))
    if version == 3:
        add("DepthwiseConv1D", images(1), *each_channel(1))
    else:
        local = [{"filters": 2, "kernel_size": 2}, {"filters": 3, "kernel_size": 3, "strides": 2}]
        add("LocallyConnected1D", images(1), *local)
        add(
            "LocallyConnected2D",
            images(2),
            *local,
            {"filters": 2, "kernel_size": 2, "use_bias": False},
        )
        add("ThresholdedReLU", (2, 5), {"theta": 0.3})
    for cell in ("SimpleRNN", "GRU", "LSTM"):
        add(cell, (2, 4, 3), *recurrent(cell))
        cell_config = {"class_name": cell + "Cell", "config": {"units": 2}}
        add(
            "RNN", (2, 4, 3), {"cell": cell_config}, {"cell": cell_config, "return_sequences": True}
        )
    for config in (
        {"filters": 2, "kernel_size": 2},
        {"filters": 2, "kernel_size": 3, "padding": "same", "return_sequences": True},
        {"filters": 2, "kernel_size": 2, "recurrent_activation": "sigmoid", "use_bias": False},
        {"filters": 2, "kernel_size": 2, "strides": 2, "go_backwards": True},
    ):
        add(
            "ConvLSTM2D",
            (2, 3, 5, 4, 2),
            dict(config, recurrent_activation=config.get("recurrent_activation", "hard_sigmoid")),
        )
    dense = {"class_name": "Dense", "config": {"units": 3, "activation": "tanh"}}
    conv = {"class_name": "Conv2D", "config": {"filters": 2, "kernel_size": 2}}
    add("TimeDistributed", (2, 4, 3), {"layer": dense})
    add("TimeDistributed", (2, 2, 4, 4, 3), {"layer": conv})
    return cases


def plain_cases() -> list[Single]:
    cases: list[Single] = []

    def add(name: str, shape: Shape, *configs: Config) -> None:
        cases.extend((name, config, shape) for config in (configs or ({},)))

    names = (
        "elu exponential hard_sigmoid linear relu selu sigmoid softmax softplus softsign swish tanh"
    )
    add("Activation", (3, 8), *[{"activation": name} for name in names.split()])
    add(
        "ReLU",
        (3, 8),
        {},
        {"max_value": 0.5},
        {"negative_slope": 0.2, "threshold": 0.1},
        {"max_value": 0.4, "negative_slope": 0.1, "threshold": 0.6},
    )
    add("LeakyReLU", (3, 8), {}, {"alpha" if version == 2 else "negative_slope": 0.1})
    add("ELU", (3, 8), {}, {"alpha": 0.7})
    add("PReLU", (2, 3, 4), {}, {"shared_axes": [1]})
    add("Softmax", (2, 3, 4), {}, {"axis": 1})
    add("Dense", (2, 4), {"units": 3}, {"units": 2, "activation": "softmax", "use_bias": False})
    add("Dense", (2, 3, 4), {"units": 3})
    add("Flatten", (2, 3, 4))
    add("Reshape", (2, 3, 4), {"target_shape": [2, 6]}, {"target_shape": [-1, 2]})
    add("Permute", (2, 3, 4, 2), {"dims": [3, 1, 2]})
    add("RepeatVector", (2, 3), {"n": 4})
    add(
        "BatchNormalization",
        (2, 3, 4),
        {},
        {"axis": 1},
        {"scale": False},
        {"center": False, "epsilon": 0.1},
    )
    add(
        "LayerNormalization",
        (2, 3, 4),
        {},
        {"axis": 1},
        {"axis": [1, 2]},
        {"scale": False, "epsilon": 0.1},
    )
    for name in ("Dropout", "AlphaDropout", "GaussianDropout"):
        add(name, (2, 3), {"rate": 0.3})
    add("GaussianNoise", (2, 3), {"stddev": 0.3})
    add("Masking", (2, 3, 2), {"mask_value": 0.0})
    add("Embedding", (2, 3), {"input_dim": 5, "output_dim": 4})
    return cases


def merging_cases() -> list[Merging]:
    cases: list[Merging] = []
    for name in ("Add", "Average", "Maximum", "Minimum", "Multiply"):
        cases.append((name, {}, [(2, 3, 4)] * 3))
        cases.append((name, {}, [(2, 3, 4), (2, 1, 4)]))
    cases.append(("Subtract", {}, [(2, 3, 4)] * 2))
    cases.append(("Concatenate", {}, [(2, 3, 4), (2, 3, 2)]))
    cases.append(("Concatenate", {"axis": 1}, [(2, 3, 4), (2, 1, 4)]))
    cases.append(("Dot", {"axes": 1}, [(2, 3), (2, 3)]))
    cases.append(("Dot", {"axes": [2, 1]}, [(2, 3, 4), (2, 4, 5)]))
    cases.append(("Dot", {"axes": [2, 2], "normalize": True}, [(2, 3, 4), (2, 5, 4)]))
    return cases


def make_layer(name: str, config: Config) -> Any:
    config = dict(config)
    for key in ("cell", "layer"):
        if key in config:
            config[key] = make_layer(config[key]["class_name"], config[key]["config"])
    if "cells" in config:
        config["cells"] = [make_layer(one["class_name"], one["config"]) for one in config["cells"]]
        return getattr(keras.layers, name)(**config)
    for key, value in config.items():
        if isinstance(value, list):
            config[key] = tuple(tuple(one) if isinstance(one, list) else one for one in value)
    if name in ("Concatenate", "Dot"):
        config = {
            key: list(v) if isinstance(v, tuple) and len(v) > 2 else v for key, v in config.items()
        }
    return getattr(keras.layers, name)(**config)


def draw(rng: np.random.RandomState, name: str, shape: Shape) -> np.ndarray:
    if name in ("Embedding", "ReversibleEmbedding") or name in CATEGORIES:
        return rng.randint(0, CATEGORIES.get(name, 5), shape).astype("float64")
    x = rng.uniform(-1, 1, shape)
    if name == "Masking":
        x[0, 1] = 0
    return x


# What a call of the layer takes, and not its constructor.
CALL = ("use_causal_mask",)
# Inputs one by one, and not in a list.
APART = ("MultiHeadAttention", "GroupQueryAttention")
# Layers of numbers that stay what they are.
WHOLE = ("CategoryEncoding", "IntegerLookup")


def call_layer(name: str, config: Config, inputs: list[Any], kind: str) -> tuple[Any, Any]:
    called = {key: value for key, value in config.items() if key in CALL}
    made = {key: value for key, value in config.items() if key not in CALL}
    layer = make_layer(name, dict(made, dtype=kind))
    if name in APART:
        return layer, layer(*inputs, **called)
    return layer, layer(inputs if len(inputs) > 1 else inputs[0], **called)


def draw_weights(rng: np.random.RandomState, layer: Any) -> list[Any]:
    weights = [np.round(rng.uniform(-1, 1, one.shape), 3) for one in layer.get_weights()]
    if type(layer).__name__ == "BatchNormalization":
        weights[-1] = np.abs(weights[-1])
    if type(layer).__name__ == "Normalization" and weights:
        weights[1:] = [np.abs(weights[1]), np.zeros(())]
    layer.set_weights(weights)
    if hasattr(layer, "finalize_state"):
        layer.finalize_state()
    return weights


def line(number: int, layers: list[Config], weights: Config, values: list[Any]) -> Config:
    names = [f"in{i}" for i in range(len(values))]
    return {
        "id": f"{layers[-1]['class']}_{number}",
        "keras": version,
        "layers": layers,
        "weights": {name: [one.tolist() for one in w] for name, w in weights.items() if w},
        "inputs": {key: value.tolist() for key, value in zip(names, values)},  # noqa: B905
        "model_inputs": names,
        "output": layers[-1]["name"],
        "input_shapes": {key: list(v.shape[1:]) for key, v in zip(names, values)},  # noqa: B905
    }


def record_masked(number: int, case: Any) -> Config:
    """Record a layer behind a Masking of some of its inputs, and before others."""
    name, config, shapes, masked, after = case
    rng = np.random.RandomState(number)
    values, layers, tensors, weights = [], [], [], {}
    kind = "int64" if name in WHOLE else "float64"
    inputs = [keras.layers.Input(shape[1:], dtype=kind) for shape in shapes]
    for i, shape in enumerate(shapes):
        value = np.round(draw(rng, name, shape), 3)
        if masked[i]:
            value[rng.uniform(size=shape[:2]) < 0.4] = 0
            value[:, 1] = 0.5  # one that counts
            layers.append({"class": "Masking", "config": {}, "name": f"mask{i}"})
            layers[-1]["inputs"] = [f"in{i}"]
        values.append(value)
        mask = keras.layers.Masking(dtype="float64")
        tensors.append(mask(inputs[i]) if masked[i] else inputs[i])
    names = [f"mask{i}" if masked[i] else f"in{i}" for i in range(len(shapes))]
    for place, (one, made) in enumerate([(name, config), *after]):
        layer, result = call_layer(one, made, tensors, "float64")
        weights[f"layer{place}"] = draw_weights(rng, layer)
        layers.append({"class": one, "config": made, "name": f"layer{place}", "inputs": names})
        tensors, names = [result], [f"layer{place}"]
    model = keras.Model(inputs, tensors[0])
    output = np.asarray(model([tf.constant(value, kind) for value in values]))
    made_line = line(number, layers, weights, values)
    made_line["id"] = f"{name}_{number}"
    return dict(made_line, tensorflow=np.round(output, 9).tolist())


def record(number: int, name: str, config: Config, shapes: list[Shape]) -> dict[str, Any]:
    rng = np.random.RandomState(number)
    kind = "float32" if name in SINGLE_PRECISION else "float64"
    values = [np.round(draw(rng, name, shape), 3) for shape in shapes]
    given_kind = "int64" if name in WHOLE else kind
    inputs = [keras.layers.Input(shape[1:], dtype=given_kind) for shape in shapes]
    layer, result = call_layer(name, config, inputs, kind)
    weights = draw_weights(rng, layer)
    given = [tf.constant(value, given_kind) for value in values]
    model = keras.Model(inputs, result)
    output = np.asarray(model(given if len(given) > 1 else given[0]))
    names = [f"in{i}" for i in range(len(values))]
    layers = [{"class": name, "config": config, "name": "layer", "inputs": names}]
    made_line = line(number, layers, {"layer": weights}, values)
    return dict(made_line, tensorflow=np.round(output, 9).tolist())


def print_line(made: Config) -> None:
    print(json.dumps(made, separators=(",", ":")))


def main() -> None:
    if "--new" in sys.argv:
        cases = new_cases()
        for number, case in enumerate(cases):
            print_line(record(number, *case))
        for number, masked in enumerate(masked_cases()):
            print_line(record_masked(len(cases) + number, masked))
        return
    singles = sliding_and_recurrent_cases() + plain_cases()
    cases = [(name, config, [shape]) for name, config, shape in singles]
    cases += merging_cases()
    for number, (name, config, shapes) in enumerate(cases):
        print_line(record(number, name, config, shapes))


if __name__ == "__main__":
    main()
