"""Records what Keras 3 gives for cases that say which layer, arguments and shapes to take.

usage: record_arguments.py CASES.json > CASES.jsonl    with the Python of a Keras 3 environment
Weights and inputs are drawn with a seed a case, in float64. The line of a case that Keras refuses
has its reason under `refused`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np

keras.config.set_floatx("float64")

# TensorFlow has no kernel for these in double precision.
SINGLE_PRECISION = ("AveragePooling3D", "MaxPooling3D")
LISTS = (
    *("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"),
    *("Attention", "AdditiveAttention"),
)
APART = ("MultiHeadAttention", "GroupQueryAttention")
OF_THE_CALL = ("use_causal_mask", "return_attention_scores", "reverse")
TABLES = ("CategoryEncoding", "Embedding", "IntegerLookup", "ReversibleEmbedding")
MASK = {"class": "Masking", "config": {"mask_value": 0.0}, "name": "before", "inputs": ["in0"]}


def made(name: str, config: dict[str, Any], dtype: str) -> Any:
    """Return a layer; lists are tuples in Keras, and layers may be inside."""
    arguments: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            arguments[key] = made(value["class_name"], value["config"], dtype)
        elif isinstance(value, list) and key != "axis":
            arguments[key] = tuple(tuple(o) if isinstance(o, list) else o for o in value)
        else:
            arguments[key] = value
    return getattr(keras.layers, name)(dtype=dtype, **arguments)


def call(layer: Any, name: str, given: list[Any], named: dict[str, Any]) -> Any:
    """Return the first output."""
    if name in LISTS:
        found = layer(given, **named)
    elif name in APART:
        seen = {"attention_mask": given[3] > 0} if len(given) > 3 else {}
        found = layer(*given[:3], **seen, **named)
    elif name.endswith("Cell"):
        found = layer(given[0], states=given[1:])
    elif len(given) > 1:
        found = layer(given[0], initial_state=given[1:])
    else:
        found = layer(given[0], **named)
    return found[0] if isinstance(found, (list, tuple)) else found


def draw(random: np.random.RandomState, case: dict[str, Any], shape: list[int]) -> Any:
    """Return an input."""
    if case["class"] in TABLES and not case["config"].get("reverse"):
        return random.randint(0, 5, shape).astype("float64")
    return np.round(random.uniform(-1, 1, shape), 3)


def record(number: int, case: dict[str, Any]) -> dict[str, Any]:
    """Return the case line."""
    name, random = case["class"], np.random.RandomState(number)
    dtype = "float32" if name in SINGLE_PRECISION else "float64"
    constructor = {k: v for k, v in case["config"].items() if k not in OF_THE_CALL}
    named = {k: v for k, v in case["config"].items() if k in OF_THE_CALL}
    layer = made(name, constructor, dtype)
    values = [draw(random, case, shape) for shape in case["shapes"]]
    if name in APART and len(values) == 4:  # query, value, key, and which of them see each other
        values[3] = (values[3] > 0).astype("float64")
    given = [keras.ops.convert_to_tensor(one.astype(dtype)) for one in values]
    if case["masked"]:
        values[0][0, 1] = values[0][1, -1] = 0
        given[0] = keras.layers.Masking(dtype=dtype)(keras.ops.convert_to_tensor(values[0]))
    call(layer, name, given, named)
    weights = [np.round(random.uniform(-1, 1, one.shape), 3) for one in layer.get_weights()]
    if name == "BatchNormalization":
        weights[-1] = np.abs(weights[-1])
    layer.set_weights(weights)
    found = keras.ops.convert_to_numpy(call(layer, name, given, named))
    inputs = [f"in{i}" for i in range(len(values))]
    one = {"class": name, "config": case["config"], "name": "layer", "inputs": inputs}
    if case["masked"]:
        one["inputs"] = ["before"]
    return {
        "id": case["id"],
        "keras": 3,
        "layers": [MASK, one] if case["masked"] else [one],
        "weights": {"layer": [one.tolist() for one in weights]} if weights else {},
        "inputs": {key: value.tolist() for key, value in zip(inputs, values, strict=True)},
        "model_inputs": inputs,
        "output": "layer",
        "input_shapes": {k: shape[1:] for k, shape in zip(inputs, case["shapes"], strict=True)},
        "tensorflow": np.round(np.asarray(found, "float64"), 9).tolist(),
    }


def main() -> None:
    """Write a line for each case."""
    for number, case in enumerate(json.loads(Path(sys.argv[1]).read_text())):
        try:
            line = record(number, case)
        except Exception as failure:
            line = {"id": case["id"], "refused": " ".join(str(failure).split())[-300:]}
        print(json.dumps(line, separators=(",", ":")))


if __name__ == "__main__":
    main()
