"""Writes Keras models of many forms to files, with inputs and what Keras gives for them.

usage: write_files.py FOLDER    with the Python of an environment that has Keras 3, TensorFlow 2.4,
                               or one of TensorFlow 2.12 to 2.15
FOLDER/NAME.h5 (and NAME.keras, which TensorFlow 2.4 does not write), NAME.inputs.npz,
NAME.outputs.npz.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

keras = tf.keras
OLD = tf.__version__.startswith("2.4.")
NEW = int(tf.__version__.split(".")[1]) > 15
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


def prepared():
    image = keras.Input((7, 9, 3), name="image")
    numbers = keras.Input((4,), dtype="int64", name="numbers")
    x = layers.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5])(image)
    x = layers.Resizing(6, 5)(layers.Rescaling(0.5)(x))
    x = layers.AdaptiveAveragePooling2D((3, 2))(layers.CenterCrop(5, 4)(x))
    adapted = layers.Normalization(axis=1)
    adapted.adapt(np.linspace(-1, 2, 2 * 3 * 2 * 3).reshape(2, 3, 2, 3).astype("float32"))
    bins = layers.Discretization([-0.5, 0.0, 0.5], output_mode="one_hot")(adapted(x))
    words = layers.CategoryEncoding(4, output_mode="count")(numbers)
    looked_up = layers.IntegerLookup(vocabulary=[2, 0], output_mode="multi_hot")(numbers)
    return keras.Model([image, numbers], [x, bins, words, looked_up])


def grouped():
    q, v = keras.Input((4, 6), name="q"), keras.Input((5, 6), name="v")
    many = layers.GroupQueryAttention(3, 4, 2, use_gate=True)(q, v, use_causal_mask=True)
    gated = layers.MultiHeadAttention(2, 3, use_gate=True, sliding_window=2)(q, v)
    kept = layers.SpectralNormalization(layers.Dense(3))(many)
    cells = [layers.LSTMCell(3), layers.GRUCell(2), layers.LSTMCell(4)]
    steps = layers.RNN(layers.StackedRNNCells(cells), return_sequences=True)(v)
    two = layers.StackedRNNCells([layers.LSTMCell(3), layers.SimpleRNNCell(2)])
    end, (hidden, cell), state = layers.RNN(two, return_state=True, go_backwards=True)(v)
    stacked = layers.Concatenate()([end, hidden, cell, state])
    learned = layers.LSTM(3)(v, training=True)
    both = layers.Bidirectional(layers.LSTM(2, return_state=True))(v)
    gates = layers.GRU(2, return_state=True, return_sequences=True)
    ends = layers.Bidirectional(gates, merge_mode="sum")(v)
    joined = layers.Concatenate()([*both, *ends[1:]])
    apart = layers.Bidirectional(layers.LSTM(2, return_state=True), merge_mode=None)(v)
    between = layers.Subtract()([apart[0], apart[1]])
    found = [many, gated, kept, steps, stacked, learned, joined, ends[0], between, apart[-1]]
    return keras.Model([q, v], found)


def masked_merges():
    words = keras.Input((7,), dtype="int32", name="words")
    steps = keras.Input((7, 3), name="steps")
    x = layers.Embedding(3, 3, mask_zero=True)(words)
    y = layers.Masking(0.5)(steps)
    # On values of its own: it takes the masks off its inputs (docs/findings.md).
    many = layers.MultiHeadAttention(2, 3)(layers.Rescaling(1.0)(x), layers.Rescaling(1.0)(y))
    one = layers.Attention()([x, y])
    joined = layers.Concatenate()([x, y, many])
    product = layers.Multiply()([x, y])
    both = layers.Bidirectional(layers.LSTM(2, return_sequences=True))(joined)
    mean = layers.GlobalAveragePooling1D()
    return keras.Model([words, steps], [mean(both), mean(product), mean(layers.Add()([x, one]))])


def seen():
    q, v = keras.Input((4, 6), name="q"), keras.Input((5, 6), name="v")
    keys = keras.Input((4, 5), dtype="bool", name="keys")
    many = layers.MultiHeadAttention(2, 3)(q, v, attention_mask=keys)
    grouped = layers.GroupQueryAttention(3, 4, 2)(q, v, attention_mask=keys, use_causal_mask=True)
    return keras.Model([q, v, keys], [many, grouped])


if not OLD:
    MODELS += [half, attention]
if NEW:
    MODELS += [modern, prepared, grouped, masked_merges, seen]


def draw(model, random):
    for variable in model.weights:
        low = 0.5 if "variance" in variable.name else -1.0
        if "int" not in str(variable.dtype):
            variable.assign(random.uniform(low, 1.5, variable.shape).astype("float32"))
    inputs = {}
    for tensor in model.inputs:
        shape = [2, *tensor.shape[1:]]
        source = tensor._keras_history
        name = source.operation.name if NEW else source.layer.name
        if "int" in str(tensor.dtype):
            kind = "int64" if "int64" in str(tensor.dtype) else "int32"
            inputs[name] = random.integers(0, 3, shape).astype(kind)
        elif "bool" in str(tensor.dtype):
            inputs[name] = random.choice([True, False], shape)
        elif name == "steps":  # of which some are masked
            inputs[name] = (
                random.choice([0.5, 0.25], (*shape[:2], 1)).repeat(3, 2).astype("float32")
            )
        else:
            inputs[name] = random.uniform(-1, 1, shape).astype("float32")
    return inputs


def main(folder):
    for index, make in enumerate(MODELS):
        keras.backend.clear_session()
        model = make()
        inputs = draw(model, np.random.default_rng(index))
        for layer in model.layers:
            if hasattr(layer, "finalize_state"):  # which keeps what it was built with
                layer.finalize_state()
        values = model(list(inputs.values()) if len(inputs) > 1 else next(iter(inputs.values())))
        values = values if isinstance(values, (list, tuple)) else [values]
        path = str(Path(folder) / make.__name__)
        model.save(path + ".h5")
        if not OLD:
            v3 = {"save_format": "keras_v3"} if tf.__version__.startswith("2.12.") else {}
            model.save(path + ".keras", **v3)
        Path(path + ".json").write_text(model.to_json())
        np.savez(path + ".inputs.npz", **inputs)
        np.savez(path + ".outputs.npz", *[np.asarray(v, "float32") for v in values])
        print(make.__name__)


main(sys.argv[1])
