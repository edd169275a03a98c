"""Cases of layers that Keras 3 has and TensorFlow 2.4 has not, and of masks, for record.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Config = dict[str, Any]
    Shape = tuple[int, ...]
    Case = tuple[str, Config, list[Shape]]
    # The layer, its inputs and which of them are masked; behind it comes what shows its mask.
    Masked = tuple[str, Config, list[Shape], list[bool], list[tuple[str, Config]]]

# Layers whose input is a category; how many there are.
CATEGORIES = {"CategoryEncoding": 4, "IntegerLookup": 9}
MEAN = ("GlobalAveragePooling1D", {})


def cell(name: str, units: int, **more: Any) -> Config:
    return {"class_name": name, "config": {"units": units, **more}}


def pools_and_images() -> list[Case]:
    cases: list[Case] = []
    shapes: list[Shape] = [(2, 7, 3), (2, 5, 6, 3), (2, 4, 5, 3, 2)]
    for rank, shape in enumerate(shapes, 1):
        for kind in ("Average", "Max"):
            name = f"Adaptive{kind}Pooling{rank}D"
            cases.append((name, {"output_size": 2}, [shape]))
            cases.append((name, {"output_size": [3, 4, 2][:rank]}, [shape]))
            first = (shape[0], shape[-1], *shape[1:-1])
            config = {"output_size": [9, 5, 2][:rank], "data_format": "channels_first"}
            cases.append((name, config, [first]))
    image: Shape = (2, 7, 10, 3)
    for size in ([4, 6], [7, 3], [9, 6], [12, 12]):
        cases.append(("CenterCrop", {"height": size[0], "width": size[1]}, [image]))
    cases.append(
        ("CenterCrop", {"height": 3, "width": 5, "data_format": "channels_first"}, [(2, 3, 7, 10)])
    )
    sizes = ([5, 6], [14, 20], [3, 17])
    # TensorFlow reads the weights of a cubic from a table of 1024: these sizes need no others.
    exact = ([14, 20], [28, 5])
    for mode in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"):
        for height, width in exact if mode == "bicubic" else sizes:
            config = {"height": height, "width": width, "interpolation": mode}
            cases.append(("Resizing", config, [image]))
    for option in (
        {"crop_to_aspect_ratio": True},
        {"pad_to_aspect_ratio": True},
        {"pad_to_aspect_ratio": True, "fill_value": 0.5},
        {"antialias": True},
        {"antialias": True, "interpolation": "bicubic"},
        {"antialias": True, "interpolation": "lanczos3"},
        {"pad_to_aspect_ratio": True, "interpolation": "lanczos5"},
        {"crop_to_aspect_ratio": True, "interpolation": "lanczos3"},
    ):
        for height, width in (*sizes[:2], [8, 3]):
            cases.append(("Resizing", {"height": height, "width": width, **option}, [image]))
    first_config = {"height": 4, "width": 5, "data_format": "channels_first"}
    cases.append(("Resizing", first_config, [(2, 3, 7, 10)]))
    cases.append(("Resizing", {**first_config, "interpolation": "lanczos3"}, [(2, 3, 7, 10)]))
    return cases


def encodings() -> list[Case]:
    cases: list[Case] = []
    for mode in ("one_hot", "multi_hot", "count"):
        for shape in ((2, 5), (3, 1), (2, 3, 2)):
            bins = {"bin_boundaries": [-0.5, 0.0, 0.25], "output_mode": mode}
            cases.append(("Discretization", bins, [shape]))
    for mode in ("one_hot", "multi_hot", "count"):
        for shape in ((2, 5), (3, 1)):
            config = {"num_tokens": 4, "output_mode": mode}
            cases.append(("CategoryEncoding", config, [shape]))
    for mode in ("one_hot", "multi_hot", "count"):
        for option in ({}, {"num_oov_indices": 3}, {"mask_token": 0}):
            config = {"vocabulary": [5, 2, 7, 3], "output_mode": mode, **option}
            cases.append(("IntegerLookup", config, [(2, 6)]))
    for config in (
        {"mean": 0.3, "variance": 0.5},
        {"mean": [0.1, 0.2, -0.3, 0.4], "variance": [0.5, 1.5, 0.0, 2.0]},
        {"mean": [0.1, 0.2, -0.3, 0.4], "variance": [0.5, 1.5, 0.25, 2.0], "invert": True},
        {"mean": [0.1, 0.2, 0.3], "variance": [0.5, 1.5, 0.1], "axis": 1},
        {},
        {"axis": 1},
        {"axis": [1, 2], "invert": True},
    ):
        cases.append(("Normalization", config, [(2, 3, 4)]))
    return cases


def attentions() -> list[Case]:
    cases: list[Case] = []
    both: list[Shape] = [(2, 4, 6), (2, 5, 6)]
    three: list[Shape] = [(2, 4, 6), (2, 5, 6), (2, 5, 6)]
    causal = {"use_causal_mask": True}
    for shapes in (both, three):
        for config in ({}, causal, {"use_scale": True}, {"score_mode": "concat"}):
            cases.append(("Attention", config, shapes))
        for config in ({}, causal, {"use_scale": False}):
            cases.append(("AdditiveAttention", config, shapes))
    heads: Config = {"num_heads": 2, "key_dim": 3}
    groups: Config = {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}
    for name, base in (("MultiHeadAttention", heads), ("GroupQueryAttention", groups)):
        for more in (
            {},
            causal,
            {"use_bias": False},
            {"use_gate": True},
            {"sliding_window": 2},
            {"sliding_window": 2, **causal},
        ):
            cases.append((name, {**base, **more}, three if "use_gate" in more else both))
    cases.append(("MultiHeadAttention", {**heads, "value_dim": 4, "output_shape": [5]}, both))
    cases.append(("GroupQueryAttention", {**groups, "num_key_value_heads": 1}, both))
    return cases


def others() -> list[Case]:
    cases: list[Case] = []
    for mode in ("log", "magnitude", "psd", "real", "imag", "stft"):
        config = {"mode": mode, "frame_length": 6, "window": None}
        cases.append(("STFTSpectrogram", config, [(2, 17, 2)]))
    for more in (
        {"frame_step": 2, "fft_length": 10},
        {"padding": "same"},
        {"expand_dims": True},
        {"expand_dims": True, "mode": "stft"},
    ):
        cases.append(("STFTSpectrogram", {"frame_length": 5, "window": None, **more}, [(2, 17, 2)]))
    dense = {"class_name": "Dense", "config": {"units": 3, "activation": "tanh"}}
    conv = {"class_name": "Conv2D", "config": {"filters": 2, "kernel_size": 2}}
    cases.append(("SpectralNormalization", {"layer": dense}, [(2, 4)]))
    cases.append(("SpectralNormalization", {"layer": conv, "power_iterations": 3}, [(2, 4, 5, 3)]))
    cases.append(("ReversibleEmbedding", {"input_dim": 5, "output_dim": 4}, [(2, 3)]))
    for cells in (
        [cell("LSTMCell", 3), cell("GRUCell", 2), cell("SimpleRNNCell", 4)],
        [cell("LSTMCell", 3, use_bias=False), cell("LSTMCell", 3)],
    ):
        stack = {"class_name": "StackedRNNCells", "config": {"cells": cells}}
        for more in ({}, {"return_sequences": True}, {"go_backwards": True}):
            cases.append(("RNN", {"cell": stack, **more}, [(2, 5, 3)]))
    return cases


def new_cases() -> list[Case]:
    return pools_and_images() + encodings() + attentions() + others()


def masked_cases() -> list[Masked]:
    cases: list[Masked] = []
    rows = ("Embedding", {"input_dim": 8, "output_dim": 2})
    for bounds in ([-0.5, 0.0, 0.25], [0.1]):
        for shape in ((2, 5), (3, 1), (2, 3, 2)):
            config = {"bin_boundaries": bounds}
            cases.append(("Discretization", config, [shape], [False], [rows]))
    for option in ({}, {"num_oov_indices": 3}, {"mask_token": 0}):
        words = {"vocabulary": [5, 2, 7, 3], **option}
        cases.append(("IntegerLookup", words, [(2, 6)], [False], [rows]))
    attended: list[Shape] = [(2, 4, 6), (2, 5, 6)]
    heads: Config = {"num_heads": 2, "key_dim": 3}
    groups: Config = {"head_dim": 3, "num_query_heads": 2, "num_key_value_heads": 1}
    for name, config in (
        ("Attention", {}),
        ("Attention", {"use_causal_mask": True}),
        ("AdditiveAttention", {}),
        ("MultiHeadAttention", heads),
        ("MultiHeadAttention", {**heads, "use_causal_mask": True}),
        ("GroupQueryAttention", groups),
    ):
        for which in ([True, False], [False, True], [True, True]):
            for after in ([], [MEAN] if which[0] else []):
                cases.append((name, config, attended, which, after))
    alike: list[Shape] = [(2, 5, 3), (2, 5, 3)]
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
        cases.extend((name, {}, alike, which, [MEAN]) for which in ([True, True], [True, False]))
    for axis in (-1, 1):
        for which in ([True, True], [True, False]):
            cases.append(("Concatenate", {"axis": axis}, alike, which, [MEAN]))
    one: list[Shape] = [(2, 5, 3)]
    lstm = {"class_name": "LSTM", "config": {"units": 2, "return_sequences": True}}
    gru = {"class_name": "GRU", "config": {"units": 2}}
    cases.append(("Bidirectional", {"layer": lstm}, one, [True], []))
    cases.append(("Bidirectional", {"layer": lstm, "merge_mode": "sum"}, one, [True], [MEAN]))
    cases.append(("Bidirectional", {"layer": gru}, one, [True], []))
    stack = {
        "class_name": "StackedRNNCells",
        "config": {"cells": [cell("LSTMCell", 3), cell("GRUCell", 2)]},
    }
    for config in ({"cell": stack}, {"cell": stack, "return_sequences": True}):
        cases.append(("RNN", config, one, [True], []))
    backwards = {"cell": stack, "return_sequences": True, "go_backwards": True}
    cases.append(("RNN", backwards, one, [True], []))
    for name in ("SimpleRNN", "GRU", "LSTM"):
        zero = {"units": 2, "return_sequences": True, "zero_output_for_mask": True}
        cases.append((name, zero, one, [True], [MEAN]))
    dense = {"class_name": "Dense", "config": {"units": 2}}
    cases.append(("TimeDistributed", {"layer": dense}, one, [True], [MEAN]))
    pairs = {"class_name": "Reshape", "config": {"target_shape": [3, 1]}}
    conv = {"filters": 2, "kernel_size": 2, "recurrent_activation": "sigmoid"}
    steps = ("ConvLSTM1D", {**conv, "return_sequences": True})
    cases.append(("TimeDistributed", {"layer": pairs}, one, [True], [steps]))
    cases.append(("TimeDistributed", {"layer": pairs}, one, [True], [("ConvLSTM1D", conv)]))
    cases.append(("Softmax", {}, [(3, 3, 3)], [True], [MEAN]))
    cases.append(("Reshape", {"target_shape": [3, 5]}, one, [True], [MEAN]))
    for name, config in (("Identity", {}), ("Rescaling", {"scale": 2.0})):
        cases.append((name, config, one, [True], [MEAN]))
    return cases
