"""Writes Keras models of many forms to files, with inputs and what Keras gives for them.

usage: write_files.py FOLDER    with the Python of an environment that has Keras 3 or TensorFlow 2.4
FOLDER/NAME.h5 (and NAME.keras where Keras 3 writes), NAME.inputs.npz, NAME.outputs.npz.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

OLD = tf.__version__.startswith("2.4.")
if OLD:
    keras = tf.keras
else:
    import keras  # type: ignore[no-redef]
layers = keras.layers


def convolutional():
    return keras.Sequential(
        [
            keras.Input((8, 6, 3), name="image"),
            layers.Conv2D(4, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.DepthwiseConv2D(2, use_bias=False),
            layers.PReLU(shared_axes=[1, 2]),
            layers.Conv2DTranspose(2, 3, strides=2),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(5, activation="softmax"),
        ],
        name="convolutional",
    )


def shared():
    a, b = keras.Input((6, 3), name="a"), keras.Input((6, 3), name="b")
    twice = layers.Dense(3, activation="tanh", name="twice")
    x = layers.Add()([twice(a), twice(twice(b))])
    y = layers.Concatenate(axis=1)([x, a])
    return keras.Model([a, b], [layers.Subtract()([x, b]), layers.Dot(axes=2)([y, b])])


def recurrent():
    x = keras.Input((5, 3), name="x")
    sequence, h, c = layers.LSTM(4, return_sequences=True, return_state=True)(x)
    again = layers.LSTM(4)(sequence, initial_state=[h, c])
    backwards = layers.GRU(3, go_backwards=True, return_sequences=True)(sequence)
    both = layers.Bidirectional(layers.SimpleRNN(2, return_sequences=True))(backwards)
    steps = layers.TimeDistributed(layers.Dense(2, activation="relu"))(both)
    return keras.Model(x, [again, steps, c])


def nested():
    # A frozen layer makes the order of weights in an .h5 file another one.
    inner = keras.Sequential(
        [
            keras.Input((4, 3)),
            layers.BatchNormalization(name="first"),
            layers.Conv1D(2, 2, name="frozen", trainable=False),
            layers.BatchNormalization(name="second"),
        ],
        name="inner",
    )
    i = keras.Input((4, 3))
    deep = keras.Model(i, layers.LayerNormalization()(inner(i)), name="deep")
    x = keras.Input((4, 3), name="x")
    # Not inner(x) too: Keras 3 cannot read what it writes of a layer that two networks have.
    return keras.Model(x, layers.Maximum()([deep(x), deep(layers.Dense(3)(x))]))


def embedded():
    words = keras.Input((7,), dtype="int32", name="words")
    x = layers.Embedding(20, 4)(words)
    x = layers.SeparableConv1D(5, 3, padding="same", activation="relu")(x)
    return keras.Model(words, [layers.GlobalMaxPooling1D()(x), layers.GlobalAveragePooling1D()(x)])


def masked():
    words = keras.Input((7,), dtype="int32", name="words")
    steps = keras.Input((5, 3), name="steps")
    x = layers.Dense(4)(layers.Dropout(0.5)(layers.Embedding(3, 4, mask_zero=True)(words)))
    y = layers.LSTM(3, return_sequences=True)(x)
    z = layers.GRU(3, go_backwards=True)(y)
    mean = layers.GlobalAveragePooling1D()(y)
    s = layers.SimpleRNN(2, return_sequences=True)(layers.Masking(0.5)(steps))
    return keras.Model([words, steps], [y, z, mean, s])


def passed_on():
    x = keras.Input((3,), name="x")
    y = layers.Dense(2)(x)
    return keras.Model(x, [y, x])


def without_names():
    return keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Activation("relu")])


MODELS = [convolutional, shared, recurrent, nested, embedded, masked, passed_on, without_names]


def half():
    x = keras.Input((6,), name="x")
    y = layers.Dense(4, activation="relu", dtype="mixed_float16")(x)
    return keras.Model(x, layers.Dense(2, dtype="float32")(y))


def attention():
    q, v = keras.Input((4, 6), name="q"), keras.Input((5, 6), name="v")
    many = layers.MultiHeadAttention(2, 3)(q, v)
    one = layers.Attention()([q, v])
    more = layers.AdditiveAttention()([q, v, v])
    return keras.Model([q, v], [many, one, more])


def modern():
    x = keras.Input((4, 6), name="x")
    y = layers.GroupNormalization(2)(x)
    y = layers.UnitNormalization()(y)
    y = layers.EinsumDense("abc,cd->abd", output_shape=(None, 3), bias_axes="d")(y)
    z = layers.RMSNormalization()(y)
    return keras.Model(x, z)


if not OLD:
    MODELS += [half, attention, modern]


def draw(model, random):
    for variable in model.weights:
        low = 0.5 if "variance" in variable.name else -1.0
        variable.assign(random.uniform(low, 1.5, variable.shape).astype("float32"))
    inputs = {}
    for tensor in model.inputs:
        shape = [2, *tensor.shape[1:]]
        source = tensor._keras_history
        name = source.layer.name if OLD else source.operation.name
        if "int" in str(tensor.dtype):
            inputs[name] = random.integers(0, 3, shape).astype("int32")
        elif name == "steps":  # of which some are masked
            inputs[name] = random.choice([0.5, 0.25], (*shape[:2], 1)).repeat(3, 2).astype("float32")
        else:
            inputs[name] = random.uniform(-1, 1, shape).astype("float32")
    return inputs


def main(folder):
    for index, make in enumerate(MODELS):
        keras.backend.clear_session()
        model = make()
        inputs = draw(model, np.random.default_rng(index))
        values = model(list(inputs.values()) if len(inputs) > 1 else next(iter(inputs.values())))
        values = values if isinstance(values, (list, tuple)) else [values]
        path = str(Path(folder) / make.__name__)
        model.save(path + ".h5")
        if not OLD:
            model.save(path + ".keras")
        Path(path + ".json").write_text(model.to_json())
        np.savez(path + ".inputs.npz", **inputs)
        np.savez(path + ".outputs.npz", *[np.asarray(v, "float32") for v in values])
        print(make.__name__)


main(sys.argv[1])
