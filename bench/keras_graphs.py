"""Writes every network of keras.applications as TensorFlow graphs: for inference and for training.

usage: keras_graphs.py FOLDER [NAME…]

NAME.inference.pb has the network alone; NAME.training.pb has it in training, the loss, all
gradients and the steps of Adam. No network is trained or even run, and none has weights. Runs in
the environment of the backend tensorflow; graphs that are there already are left.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import tensorflow as tf

V1 = tf.compat.v1
# Top-level callables of keras.applications with a capital are the networks.
NETWORKS = sorted(
    name for name in dir(keras.applications) if name[0].isupper() and name not in {"Any"}
)


def build(name: str, training: bool) -> Any:
    """Return the graph of a network."""
    keras.backend.clear_session()
    with tf.Graph().as_default() as graph:
        network = getattr(keras.applications, name)(weights=None)
        images = V1.placeholder(tf.float32, [None, *network.input_shape[1:]], name="images")
        probabilities = network(images, training=training)
        tf.identity(probabilities, name="probabilities")
        if training:
            labels = V1.placeholder(tf.int32, [None], name="labels")
            losses = keras.losses.sparse_categorical_crossentropy(labels, probabilities)
            variables = [variable.value for variable in network.trainable_variables]
            loss = tf.reduce_mean(losses, name="loss")
            V1.train.AdamOptimizer(1e-3).minimize(loss, var_list=variables)
        return graph.as_graph_def()


def main() -> None:
    """Write all graphs, or those of the networks that are named."""
    V1.disable_v2_behavior()
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NETWORKS:
        for kind in ["inference", "training"]:
            target = folder / f"{name}.{kind}.pb"
            if target.exists():
                continue
            definition = build(name, kind == "training")
            unfinished = target.with_suffix(".part")
            unfinished.write_bytes(definition.SerializeToString())
            unfinished.rename(target)
            print(f"{target.name}: {len(definition.node)} nodes", flush=True)


if __name__ == "__main__":
    main()
