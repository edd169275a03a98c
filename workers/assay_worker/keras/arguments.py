"""What a layer's class makes of the arguments of a node: their form, and those that it lacks."""

import inspect
import json

from ..arrays import Array
from ..failure import Unsupported
from ..program import Graph

# Arguments of other releases, and the value at which they change nothing.
_NEUTRAL = {
    "antialias": 0, "causal": 0, "data_format": "channels_last", "depth_multiplier": 1,
    "dilation_rate": 1, "fill_mode": "constant", "fill_value": 0, "pad_to_aspect_ratio": 0,
    "groups": 1, "interpolation": "nearest", "keepdims": 0, "mask_zero": 0, "negative_slope": 0,
    "normalize": 0, "output_padding": None, "reset_after": 0, "return_attention_scores": 0,
    "rms_scaling": 0, "score_mode": "dot", "threshold": 0, "time_major": 0, "use_causal_mask": 0,
    "use_gate": 0, "zero_output_for_mask": 0,
}  # fmt: skip
# The same argument under the name that another release has for it.
_OTHER_NAMES = {"alpha": "negative_slope", "negative_slope": "alpha"}
# Before the names of arguments that only decide how a layer computes.
_MANNER = "keras."
# Lists that stay lists, also of one number.
_LISTS = ("target_shape", "dims", "shared_axes", "output_shape", "bin_boundaries", "vocabulary")
# Those that Keras has not: they say how a node is laid out.
_OURS = ("cells", "masked")
# Those that decide the first weights alone, which the model gives; scipy would have to make them.
_OF_WEIGHTS = {"STFTSpectrogram": ("window",)}
# Of each spatial axis the numbers before and after it.
_ENDS = ("padding", "cropping")


def parameters(cls):
    """Return the constructor's arguments with their defaults, those of the classes above too."""
    found = {}
    for base in reversed(cls.__mro__):
        init = base.__dict__.get("__init__")
        init = getattr(init, "_original_function", init)  # what old releases wrap
        if not inspect.isfunction(init):
            continue
        for name, one in inspect.signature(init).parameters.items():
            if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
                found[name] = one.default
    return found


def arguments(node, cls, inner):
    """Return what the constructor takes, and what the call does.

    `inner` makes a layer of a node inside this one.
    """
    known, called = parameters(cls), {}
    made = dict.fromkeys(_OF_WEIGHTS.get(node.op, ()))
    for given, value in node.attributes.items():
        if given in _OURS:
            continue
        other = _OTHER_NAMES.get(given)
        name = other if given not in known and other in known else given
        if name in known:
            made[name] = _value(name, value, known[name], inner)
        elif name in inspect.signature(cls.call).parameters:
            called[name] = bool(value)
        elif not _is_neutral(name, value):
            raise Unsupported("argument %s of %s" % (name, node.op))
    for name in known:
        if _MANNER + name in node.metadata:
            made[name] = json.loads(node.metadata[_MANNER + name])
    return made, called


def _is_neutral(name, value):
    if name not in _NEUTRAL:
        return False
    if isinstance(value, Array):
        value = value.numpy().reshape(-1).tolist()
    numbers = value if isinstance(value, (list, tuple)) else [value]
    return all(one == _NEUTRAL[name] for one in numbers)


def _value(name, value, default, inner):
    if isinstance(value, Graph):
        return inner(value.nodes[0])
    if isinstance(value, Array):  # a number with all its digits, or a table
        if name in _LISTS:
            return value.numpy().reshape(-1).tolist()
        return value.numpy().item() if value.count() == 1 else value.numpy()
    if isinstance(default, bool):
        return bool(value)
    if value == "none":
        return None
    if not isinstance(value, (list, tuple)):
        return value
    if name in ("output_shape", "noise_shape"):  # -1 is the input's own extent
        return [None if one == -1 else one for one in value]
    if name in _LISTS:
        return value
    numbers = list(value)
    if len(numbers) == 1:
        return numbers[0]
    if name in _ENDS and len(numbers) > 3:
        return tuple(zip(numbers[::2], numbers[1::2]))
    return tuple(numbers)
