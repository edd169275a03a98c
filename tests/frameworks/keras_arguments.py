"""Every layer with every argument: ordinary values of each, as cases that Keras 3 records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Config = dict[str, Any]
Shape = tuple[int, ...]
IMAGES: tuple[Shape, ...] = ((2, 7, 4), (2, 6, 5, 4), (2, 5, 4, 6, 2))
SOME: Shape = (2, 3, 4)
SEQUENCE: Shape = (2, 4, 3)
FUNCTIONS = [
    *("celu", "elu", "exponential", "gelu", "glu", "hard_shrink", "hard_sigmoid"),
    *("hard_silu", "hard_tanh", "leaky_relu", "linear", "log_sigmoid", "log_softmax", "mish"),
    *("relu", "relu6", "selu", "sigmoid", "silu", "soft_shrink", "softmax"),
    *("softplus", "softsign", "sparse_plus", "squareplus", "swish", "tanh", "tanh_shrink"),
]


@dataclass
class Layer:
    """A layer on inputs of some shapes: the arguments that it needs, and values of each."""

    name: str
    shapes: list[Shape]
    needed: Config = field(default_factory=dict)
    values: Config = field(default_factory=dict)  # of each a list
    more: list[Config] = field(default_factory=list)  # arguments that mean something together
    masked: bool = False  # on a sequence of which steps are left out, too

    def plain(self) -> str:
        """Return what is special with nothing changed: arguments that are not of a number."""
        told = [
            f"{k}={v}"
            for k, v in self.needed.items()
            if k in ("attention_axes", "recurrent_activation")
        ]
        return ",".join(told) or "plain"


@dataclass
class Case:
    """One choice of arguments; `changed` names those that it is there for."""

    layer: Layer
    changed: str
    config: Config
    shapes: list[Shape]
    masked: bool = False

    def document(self, number: int) -> dict[str, Any]:
        """Return what the recorder reads."""
        values = [f"{one}={self.config.get(one)}" for one in self.changed.split(",") if one]
        changed = ",".join(values) or self.layer.plain()
        return {
            "id": f"{self.layer.name}.{changed}#{number}",
            **{"class": self.layer.name, "config": self.config, "shapes": self.shapes},
            "masked": self.masked,
        }


def cases_of(layer: Layer) -> Iterator[Case]:
    """Yield the layer as it is, with each value of each argument, and with all of `more`."""
    yield Case(layer, "", layer.needed, layer.shapes)
    if layer.masked:
        yield Case(layer, "masked", layer.needed, layer.shapes, masked=True)
    given = [{name: one} for name, values in layer.values.items() for one in values]
    for config in given + layer.more:
        shapes = layer.shapes
        if config.get("data_format") == "channels_first":
            shapes = [(one[0], one[-1], *one[1:-1]) for one in shapes]
        yield Case(layer, ",".join(config), {**layer.needed, **config}, shapes)


# What is not default; that is what a layer has without arguments.
ON, OFF = [True], [False]
BIAS = {"use_bias": OFF, "activation": ["relu"]}
FORMAT = {"data_format": ["channels_first"]}
PADDING = {"padding": ["same"]}


def mixed(rank: int, *sizes: int) -> list[int]:
    """Return another size for each axis."""
    return list(sizes[:rank])


def pools(rank: int) -> Iterator[Layer]:
    """Yield what takes the largest or the mean."""
    for name in ("MaxPooling", "AveragePooling"):
        sizes = [1, mixed(rank, 2, 3, 1)]
        strides = [1, mixed(rank, 2, 1, 3)]
        values = {"pool_size": sizes, "strides": strides, **PADDING, **FORMAT}
        more = [{"pool_size": 3, "strides": 2, "padding": "same"}]
        yield Layer(f"{name}{rank}D", [IMAGES[rank - 1]], {"pool_size": 2}, values, more)
    for name in ("GlobalMaxPooling", "GlobalAveragePooling"):
        masked = rank == 1 and name == "GlobalAveragePooling"
        values = {"keepdims": ON, **FORMAT}
        yield Layer(f"{name}{rank}D", [IMAGES[rank - 1]], {}, values, masked=masked)


def borders(rank: int) -> Iterator[Layer]:
    """Yield what pads, cuts and repeats."""
    ends: list[Any] = [[1, 2], [0, 1], [2, 1]][:rank]
    some = [1, 2, ends[0] if rank == 1 else ends]
    formats = FORMAT if rank > 1 else {}
    if rank > 1:
        some.append(mixed(rank, 1, 2, 1))
    yield Layer(f"ZeroPadding{rank}D", [IMAGES[rank - 1]], {}, {"padding": some, **formats})
    fitting = [1, [1, 0] if rank == 1 else [[1, 0], [0, 2], [2, 1]][:rank]]
    yield Layer(f"Cropping{rank}D", [IMAGES[rank - 1]], {}, {"cropping": fitting, **formats})
    sizes = {"size": [3] if rank == 1 else [3, mixed(rank, 2, 3, 1)]}
    smooth = {"interpolation": ["bilinear"]} if rank == 2 else {}
    more = [{"interpolation": "bilinear", "size": [2, 3]}] if rank == 2 else []
    yield Layer(f"UpSampling{rank}D", [IMAGES[rank - 1]], {}, {**sizes, **smooth, **formats}, more)


def convolutions(rank: int) -> Iterator[Layer]:
    """Yield what multiplies windows by kernels."""
    image = [IMAGES[rank - 1]]
    sizes = {"kernel_size": [1, mixed(rank, 2, 3, 1)], **PADDING, **FORMAT, **BIAS}
    sliding = {**sizes, "strides": [2], "dilation_rate": [2]}
    strided = [{"strides": 2, "padding": "same"}]
    both = [*strided, {"dilation_rate": 2, "padding": "same"}]
    causal = [{"padding": "causal", "dilation_rate": 2}] if rank == 1 else []
    needed: Config = {"filters": 4, "kernel_size": 2}
    own = {"filters": [1], "groups": [2]}
    yield Layer(f"Conv{rank}D", image, needed, {**sliding, **own}, both + causal)
    padded = [{"strides": 2, "output_padding": 1}]
    own = {"filters": [1]}
    yield Layer(f"Conv{rank}DTranspose", image, needed, {**sliding, **own}, strided + padded)
    if rank < 3:
        multiplied = {**sliding, "depth_multiplier": [3]}
        yield Layer(f"DepthwiseConv{rank}D", image, {"kernel_size": 2}, multiplied, both)
        own = {"filters": [1]}
        yield Layer(f"SeparableConv{rank}D", image, needed, {**multiplied, **own}, both)
    steps: list[Shape] = [(2, 3, *IMAGES[rank - 1][1:])]
    gates = {"recurrent_activation": ["hard_sigmoid"], "filters": [1]}
    sequence = dict.fromkeys(("return_sequences", "return_state", "go_backwards"), ON)
    if rank == 3:
        steps = [(1, 2, 3, 4, 3, 2)]
    yield Layer(f"ConvLSTM{rank}D", steps, needed)
    needed = {**needed, "recurrent_activation": "sigmoid"}
    yield Layer(f"ConvLSTM{rank}D", steps, needed, {**sliding, **gates, **sequence}, both)


def recurrences() -> Iterator[Layer]:
    """Yield what goes over a sequence, and the steps by themselves."""
    needed = {"units": 2}
    for name in ("SimpleRNN", "GRU", "LSTM"):
        own: Config = {**BIAS}
        if name != "SimpleRNN":
            own["recurrent_activation"] = ["hard_sigmoid"]
        if name == "GRU":
            own["reset_after"] = OFF
        states: list[Shape] = [(2, 2)] * (2 if name == "LSTM" else 1)
        yield Layer(f"{name}Cell", [(2, 3), *states], needed, own)
        yield Layer(f"{name}Cell", [(2, 3), *[(2, 1)] * len(states)], {"units": 1})
        flags = dict.fromkeys(("return_sequences", "return_state", "go_backwards"), ON)
        more = [{"go_backwards": True, "return_sequences": True}]
        yield Layer(name, [SEQUENCE], needed, {"units": [3], **own, **flags}, more, True)
        yield Layer(name, [SEQUENCE, *states], needed)
    for name in ("GRU", "LSTM"):
        config = {"units": 2, "return_sequences": True}
        layer = {"class_name": name, "config": config}
        back = {"class_name": name, "config": {**config, "go_backwards": True}}
        merged = {"merge_mode": ["sum", "mul", "ave"], "backward_layer": [back]}
        yield Layer("Bidirectional", [SEQUENCE], {"layer": layer}, merged)
    dense = {"class_name": "Dense", "config": {"units": 3, "activation": "tanh"}}
    yield Layer("TimeDistributed", [SEQUENCE], {"layer": dense})
    inner = {"class_name": "Conv1D", "config": {"filters": 2, "kernel_size": 2}}
    yield Layer("TimeDistributed", [(2, 3, 4, 2)], {"layer": inner})


def attentions() -> Iterator[Layer]:
    """Yield what weighs values by keys."""
    two, three = [(2, 3, 4), (2, 5, 4)], [(2, 3, 4), (2, 5, 4), (2, 5, 4)]
    flags = dict.fromkeys(("use_causal_mask", "return_attention_scores"), ON)
    for shapes in (two, three):
        own: Config = {"use_scale": ON, **flags}
        yield Layer("AdditiveAttention", list(shapes), {"use_scale": False}, own)
        yield Layer("Attention", list(shapes), {}, {**own, "score_mode": ["concat"]})
        sizes = {"num_heads": [1], "key_dim": [3], "value_dim": [3]}
        own = {**sizes, "output_shape": [[5]], "use_bias": OFF, **flags}
        needed = {"num_heads": 2, "key_dim": 2}
        yield Layer("MultiHeadAttention", list(shapes), needed, {**own, "use_gate": ON})
    deep: list[Shape] = [(2, 3, 2, 4), (2, 3, 2, 4)]
    yield Layer("MultiHeadAttention", list(two), needed, {"attention_axes": [[1]]})
    for axes in ([1, 2], [2], [2, 1]):
        yield Layer("MultiHeadAttention", deep, {**needed, "attention_axes": axes})
    yield Layer("MultiHeadAttention", deep, needed, {"return_attention_scores": ON})
    # Which query sees which key, for all heads or each of them.
    for mask in ((2, 3, 5), (1, 1, 5), (2, 2, 3, 5)):
        yield Layer("MultiHeadAttention", [*three, mask], needed, flags)
    across: list[Shape] = [deep[0]] * 3
    yield Layer("MultiHeadAttention", [*across, (2, 3, 2, 3, 2)], needed)
    yield Layer("MultiHeadAttention", [*across, (2, 3, 2, 2)], {**needed, "attention_axes": [2]})

    grouped = {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2}
    own = {"head_dim": [3], "return_attention_scores": ON}
    yield Layer("GroupQueryAttention", list(two), grouped, own)
    yield Layer("GroupQueryAttention", [*three, (2, 3, 5)], grouped, flags)


def encodings() -> Iterator[Layer]:
    """Yield what reads tables, and what is done to data before a network."""
    yield Layer("CategoryEncoding", [(2, 3)], {"num_tokens": 5}, {"num_tokens": [6]})
    bins = {"bin_boundaries": [-0.5, 0.0, 0.5]}
    yield Layer("Discretization", [SOME], bins, {"epsilon": [0.1]})
    words = {"vocabulary": [1, 2, 3]}
    own: Config = {"vocabulary": [[0, 4]], "invert": ON}
    more: list[Config] = [
        {"pad_to_max_tokens": True, "max_tokens": 7, "output_mode": "multi_hot"},
        {"invert": True, "oov_token": -7, "num_oov_indices": 2, "mask_token": 9},
    ]
    yield Layer("IntegerLookup", [(2, 3)], words, own, more)
    frames = {"frame_length": 5, "expand_dims": True, "window": None}
    yield Layer("STFTSpectrogram", [(2, 17, 2)], frames, FORMAT)
    sounds = {"fft_length": 32, "sequence_stride": 8, "num_mel_bins": 5, "sampling_rate": 800.0}
    own = {
        **{"fft_length": [64], "sequence_stride": [5], "num_mel_bins": [3], "top_db": [3.0]},
        **{"sequence_length": [20], "window": ["hamming", None], "sampling_rate": [1000.0]},
        **{"min_freq": [0.0], "max_freq": [300.0], "power_to_db": OFF, "mag_exp": [1.0]},
        **{"min_power": [0.5], "ref_power": [2.0]},
    }
    yield Layer("MelSpectrogram", [(2, 100)], sounds, own)
    table = {"input_dim": 5, "output_dim": 4}
    own = {"input_dim": [7], "output_dim": [1], "tie_weights": OFF, "mask_zero": ON}
    yield Layer("ReversibleEmbedding", [(2, 3)], table, own)
    back = {**table, "reverse": True}
    own = {"tie_weights": OFF, "logit_soft_cap": [2.0]}
    yield Layer("ReversibleEmbedding", [SOME], back, own)


def normalizations() -> Iterator[Layer]:
    """Yield what scales by statistics."""
    scaled = {"epsilon": [0.1], "center": OFF, "scale": OFF}
    wide: Shape = (2, 3, 4, 4)
    yield Layer("BatchNormalization", [wide], {}, {"axis": [1, 2], **scaled})
    axes: list[Any] = [1, [1, 2], [-2, -1]]
    own = {"axis": axes, **scaled, "rms_scaling": ON}
    yield Layer("LayerNormalization", [wide], {}, own)
    groups = {"groups": [1, -1], "axis": [2]}
    yield Layer("GroupNormalization", [(2, 3, 6, 4)], {"groups": 2}, {**groups, **scaled})
    yield Layer("RMSNormalization", [wide], {}, {"axis": [[-2, -1], 1], "epsilon": [0.1]})
    yield Layer("UnitNormalization", [wide], {}, {"axis": axes})


def functions() -> Iterator[Layer]:
    """Yield what takes elements one by one, or along an axis."""
    yield Layer("Activation", [SOME], {"activation": "relu"}, {"activation": list(FUNCTIONS)})
    bounds = {"max_value": [0.5], "threshold": [0.3], "negative_slope": [0.2]}
    together = [{"max_value": 0.4, "negative_slope": 0.1, "threshold": 0.6}]
    yield Layer("ReLU", [SOME], {}, bounds, together)
    yield Layer("LeakyReLU", [SOME], {}, {"negative_slope": [0.1]})
    yield Layer("ELU", [SOME], {}, {"alpha": [0.7]})
    yield Layer("PReLU", [SOME], {}, {"shared_axes": [[1], [1, 2]]})
    yield Layer("Softmax", [SOME], {}, {"axis": [1, [1, 2]]})
    yield Layer("Rescaling", [SOME], {"scale": 2.0}, {"scale": [-0.5], "offset": [1.5]})
    yield Layer("ActivityRegularization", [SOME], {}, {"l1": [0.1], "l2": [0.1]})
    yield Layer("Identity", [SOME])
    yield Layer("Masking", [SEQUENCE], {}, {"mask_value": [0.5]})
    for name in ("Dropout", "AlphaDropout", "GaussianDropout"):
        yield Layer(name, [SOME], {"rate": 0.3}, {"rate": [0.5]})
    for rank in (1, 2, 3):
        yield Layer(f"SpatialDropout{rank}D", [IMAGES[rank - 1]], {"rate": 0.3}, {"rate": [0.5]})
    yield Layer("GaussianNoise", [SOME], {"stddev": 0.3}, {"stddev": [0.9]})


def linear() -> Iterator[Layer]:
    """Yield what multiplies by a matrix or reads a table, and what only moves elements."""
    yield Layer("Dense", [SOME], {"units": 3}, {"units": [1], "use_bias": OFF})
    yield Layer("Dense", [(2, 4)], {"units": 3}, {"activation": ["relu", "softmax", "tanh"]})
    plain = {"equation": "abc,cd->abd", "output_shape": [None, 5]}
    own: Config = {"activation": ["tanh"], "bias_axes": ["d"]}
    more: list[Config] = [
        {"equation": "abc,cde->abde", "output_shape": [None, 3, 2]},
        {"output_shape": [3, 5], "bias_axes": "bd"},
    ]
    yield Layer("EinsumDense", [SOME], plain, own, more)
    table = {"input_dim": 5, "output_dim": 4}
    own = {"input_dim": [7], "output_dim": [1], "mask_zero": ON}
    yield Layer("Embedding", [(2, 3)], table, own)
    yield Layer("Flatten", [SOME], {}, FORMAT)
    shapes: list[Any] = [[12], [2, 6], [-1, 2]]
    yield Layer("Reshape", [SOME], {"target_shape": [4, 3]}, {"target_shape": shapes})
    turned = [[3, 1, 2]]
    yield Layer("Permute", [(2, 3, 4, 2)], {"dims": [2, 1, 3]}, {"dims": turned})
    yield Layer("RepeatVector", [(2, 3)], {"n": 2}, {"n": [4]})


def merging() -> Iterator[Layer]:
    """Yield what takes several inputs."""
    for name in ("Add", "Average", "Maximum", "Minimum", "Multiply"):
        yield Layer(name, [SOME] * 3)
        yield Layer(name, [SOME, (2, 1, 4)])
    yield Layer("Subtract", [SOME] * 2)
    yield Layer("Concatenate", [SOME] * 2, {}, {"axis": [1, 2]})
    axes: list[Any] = [[2, 2], [-1, 2]]
    yield Layer("Dot", [SOME, (2, 5, 4)], {"axes": 2}, {"axes": axes, "normalize": ON})


def all_layers() -> list[Layer]:
    """Return every layer that Keras 3 has."""
    layers = [*functions(), *normalizations(), *linear(), *merging(), *recurrences()]
    layers += [*attentions(), *encodings()]
    for rank in (1, 2, 3):
        layers += [*pools(rank), *borders(rank), *convolutions(rank)]
    return layers


# What is varied elsewhere, or cannot be in Keras 3. Of "*" it is so in all layers.
ELSEWHERE = {
    ("*", "training"): "random: test_keras_random.py judges draws",
    ("*", "noise_shape"): "random as well",
    ("*", "time_major"): "of Keras 2",
    ("*", "causal"): "of Keras 2: use_causal_mask is of the call here",
    ("LeakyReLU", "alpha"): "of Keras 2: negative_slope here",
    ("Resizing", "fill_mode"): "Keras has one only",
    ("IntegerLookup", "oov_method"): "the other one hashes",
    ("Softmax", "masked"): "a mask of elements, which no layer makes",
    **{
        (f"{name}{rank}D", argument): "no argument of this class, but of its family"
        for name, argument, ranks in (
            *(("DepthwiseConv", "groups", (1, 2)), ("SeparableConv", "groups", (1, 2))),
            *(("UpSampling", "interpolation", (1, 3)), ("UpSampling", "data_format", (1,))),
            *(("ZeroPadding", "data_format", (1,)), ("Cropping", "data_format", (1,))),
        )
        for rank in ranks
    },
    **{(f"Conv{rank}DTranspose", "groups"): "no argument of this class" for rank in (1, 2, 3)},
}
# What TensorFlow has not on a processor, or gets wrong there: recorded on JAX.
CHANNELS_FIRST = (
    "Conv{}D",
    "Conv{}DTranspose",
    "DepthwiseConv{}D",
    "SeparableConv{}D",
    "ConvLSTM{}D",
)
ON_JAX = {
    *((name.format(rank), "data_format") for rank in (1, 2, 3) for name in CHANNELS_FIRST),
    *((f"Conv{rank}DTranspose", "dilation_rate") for rank in (1, 2, 3)),
    ("STFTSpectrogram", "data_format"),
    ("MelSpectrogram", "*"),  # not in double precision: docs/findings.md
}
# What Keras 3 refuses although its page allows it.
REFUSED = {"RMSNormalization.axis=1"}
# What the catalogue does not say, or says of Keras 2. A case that is here and passes is a failure.
OPEN: dict[str, str] = {}
# What the worker of TensorFlow has not: kernels in double precision, and an argument that no
# signature names.
NO_KERNEL = {"AveragePooling3D", "MaxPooling3D"}
UNNAMED = {"LayerNormalization.rms_scaling=True"}
# Arguments that no case varies yet.
NOT_VARIED = {
    *(f"ConvLSTM{rank}D.masked" for rank in (1, 2, 3)),
    *("StackedRNNCells.return_state", "StackedRNNCells.zero_output_for_mask"),
}
# Layers that Keras 3 has no more: tests/keras/keras2.jsonl.gz has them. An input computes nothing.
OF_KERAS_2 = {"LocallyConnected1D", "LocallyConnected2D", "ThresholdedReLU"}
WITHOUT_MEANING = {"InputLayer"}
