"""JAX: convolution, pooling, attention and losses."""

import jax
import jax.numpy as jnp
from jax import lax

from ..table import composed, unsupported
from .parts import along, ints, lowest, scalar, window


def Attention(node, q, k, v, mask=None, past_k=None, past_v=None, lengths=None):
    if node.get("softcap", 0.0):
        unsupported("softcap")
    if node.wants(3):
        unsupported("the matrix of scores as an output")
    if node.get("softmax_precision", 1) != 1:
        unsupported("softmax in another precision than float")
    packed = q.ndim == 3
    if packed:
        q = q.reshape(q.shape[0], q.shape[1], node["q_num_heads"], -1)
        k, v = (t.reshape(t.shape[0], t.shape[1], node["kv_num_heads"], -1) for t in (k, v))
    else:
        q, k, v = (jnp.swapaxes(t, 1, 2) for t in (q, k, v))
    past = 0
    if past_k is not None:
        past = past_k.shape[2]
        k = jnp.concatenate([jnp.swapaxes(past_k, 1, 2), k], 1)
        v = jnp.concatenate([jnp.swapaxes(past_v, 1, 2), v], 1)
    if k.shape[3] != v.shape[3]:
        unsupported("values of another size than keys")
    options = _masks(node, q, k, mask, past, lengths)
    y = jax.nn.dot_product_attention(q, k, v, scale=node.get("scale"), **options)
    y = y.reshape(y.shape[:2] + (-1,)) if packed else jnp.swapaxes(y, 1, 2)
    return y, jnp.swapaxes(k, 1, 2), jnp.swapaxes(v, 1, 2)


def _masks(node, q, k, mask, past, lengths):
    """Return the arguments of dot_product_attention that say what is looked at."""
    options, allowed = {}, None
    total, steps = k.shape[1], q.shape[1]
    if mask is not None:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        short = total - mask.shape[3]
        filling = False if mask.dtype == bool else -jnp.inf
        if short and mask.shape[3] != 1:
            pads = [(0, 0)] * 3 + [(0, short)]
            mask = jnp.pad(mask, pads, constant_values=filling)
        if mask.dtype == bool:
            allowed = mask
        else:
            options["bias"] = mask
    if lengths is not None:
        options["key_value_seq_lengths"] = lengths.astype("int32")
    sides = (node.get("left_window_size", -1), node.get("right_window_size", -1))
    if not past and lengths is None:
        options["is_causal"] = bool(node.get("is_causal", 0))
        if sides != (-1, -1):
            options["local_window_size"] = tuple(total + steps if s < 0 else s for s in sides)
    elif node.get("is_causal", 0) or sides != (-1, -1):
        seen = _seen(node, steps, total, past, lengths, sides)
        allowed = seen if allowed is None else jnp.logical_and(allowed, seen)
    if allowed is not None:
        options["mask"] = allowed
    return options


def _seen(node, steps, total, past, lengths, sides):
    """Return the causal mask and window behind a past: JAX's own begin at the first key."""
    offset = past if lengths is None else (lengths - steps).reshape(-1, 1, 1, 1)
    place = jnp.arange(steps).reshape(1, 1, -1, 1) + offset
    keys = jnp.arange(total).reshape(1, 1, 1, -1)
    seen = keys <= place if node.get("is_causal", 0) else jnp.ones((1, 1, steps, total), bool)
    if sides[0] >= 0:
        seen = seen & (keys >= place - sides[0])
    return seen & (keys <= place + sides[1]) if sides[1] >= 0 else seen


def AveragePool(node, x):
    sums, sizes = _sums(node, x, x)
    return sums / sizes


def _sums(node, x, parts):
    """Return sums over windows, and how many elements each window has."""
    kernel, extents = node["kernel_shape"], x.shape[2:]
    strides, dilations, pads, more = window(node, extents, kernel)
    ends = [(before, after + extra) for (before, after), extra in zip(pads, more)]
    sums = _windows(parts, 0, lax.add, kernel, strides, dilations, ends)
    ones = jnp.ones((1, 1) + tuple(extents), x.dtype)
    if node.get("count_include_pad", 0):
        ones = jnp.pad(ones, [(0, 0)] * 2 + pads, constant_values=1)
        ends = [(0, extra) for extra in more]
    return sums, _windows(ones, 0, lax.add, kernel, strides, dilations, ends)


def _windows(x, first, function, kernel, strides, dilations, pads):
    lead = (1, 1)
    return lax.reduce_window(
        x, scalar(x, first), function, lead + tuple(kernel), lead + tuple(strides),
        [(0, 0)] * 2 + list(pads), window_dilation=lead + tuple(dilations),
    )  # fmt: skip


@composed
def CausalConvWithState(node, x, w, b=None, past=None):
    keep = w.shape[2] - 1
    state = jnp.zeros(x.shape[:2] + (keep,), x.dtype) if past is None else past
    whole = jnp.concatenate([state, x], 2)
    y = lax.conv_general_dilated(whole, w, [1], "VALID", feature_group_count=x.shape[1])
    y = y if b is None else y + along(y, b, 1)
    if node.get("activation", "none") != "none":
        y = jax.nn.silu(y)
    return y, whole[:, :, whole.shape[2] - keep :]


@composed
def Col2Im(node, x, image, block):
    extents, kernel = ints(image), ints(block)
    count = len(kernel)
    pads = node.get("pads") or [0] * (2 * count)
    channels = x.shape[1]
    for extent in kernel:
        channels //= extent

    def patches(picture):
        found = lax.conv_general_dilated_patches(
            picture, kernel, node.get("strides") or [1] * count,
            list(zip(pads[:count], pads[count:])),
            rhs_dilation=node.get("dilations") or [1] * count,
        )  # fmt: skip
        return found.reshape(found.shape[:2] + (-1,))

    like = jax.ShapeDtypeStruct((x.shape[0], channels) + tuple(extents), x.dtype)
    return jax.linear_transpose(patches, like)(x)[0]


def Conv(node, x, w, b=None):
    y = _convolve(node, x, w)
    return y if b is None else y + along(y, b, 1)


def _convolve(node, x, w, result=None):
    strides, dilations, pads, _ = window(node, x.shape[2:], w.shape[2:])
    auto = {"SAME_UPPER": "SAME", "SAME_LOWER": "SAME_LOWER", "VALID": "VALID"}
    return lax.conv_general_dilated(
        x, w, strides, auto.get(node.get("auto_pad"), pads), rhs_dilation=dilations,
        feature_group_count=node.get("group", 1), preferred_element_type=result,
    )  # fmt: skip


@composed
def ConvInteger(node, x, w, x_zero=None, w_zero=None):
    x, w = x.astype("int32"), w.astype("int32")
    x = x if x_zero is None else x - x_zero.astype("int32")
    if w_zero is not None:
        w_zero = w_zero.astype("int32")
        w = w - (along(w, w_zero, 0) if w_zero.size > 1 else w_zero)
    return _convolve(node, x, w)


def ConvTranspose(node, x, w, b=None):
    count, groups, kernel = x.ndim - 2, node.get("group", 1), w.shape[2:]
    strides = node.get("strides") or [1] * count
    dilations = node.get("dilations") or [1] * count
    reach = [(k - 1) * d for k, d in zip(kernel, dilations)]
    pads = []
    for (before, after), one, extra in zip(*_trim(node, x, strides, reach)):
        pads.append((one - before, one - after + extra))
    if groups == 1:
        y = lax.conv_transpose(
            x, w, strides, pads, dilations, _numbers(count), transpose_kernel=True
        )
    else:
        w = w.reshape((groups, -1) + w.shape[1:])
        w = jnp.swapaxes(w, 1, 2).reshape((-1, w.shape[1]) + tuple(kernel))
        y = lax.conv_general_dilated(
            x, jnp.flip(w, range(2, w.ndim)), [1] * count, pads, lhs_dilation=strides,
            rhs_dilation=dilations, feature_group_count=groups,
        )  # fmt: skip
    return y if b is None else y + along(y, b, 1)


def _numbers(count):
    letters = "XYZ"[:count]
    if len(letters) < count:
        unsupported("convolution of more than three axes")
    return ("NC" + letters, "OI" + letters, "NC" + letters)


def _trim(node, x, strides, reach):
    """Return what a transposed convolution cuts off, the kernel's reach, and what it adds."""
    count, extents = len(strides), x.shape[2:]
    more = node.get("output_padding") or [0] * count
    auto, shape = node.get("auto_pad", "NOTSET"), node.get("output_shape")
    if auto == "VALID" or (auto == "NOTSET" and not shape):
        pads = (auto == "NOTSET" and node.get("pads")) or [0] * (2 * count)
        return list(zip(pads[:count], pads[count:])), reach, more
    shape = shape or [n * s for n, s in zip(extents, strides)]
    cuts = []
    for i in range(count):
        total = strides[i] * (extents[i] - 1) + more[i] + reach[i] + 1 - shape[-count + i]
        half = total // 2
        cuts.append((half, total - half) if auto == "SAME_UPPER" else (total - half, half))
    return cuts, reach, more


def GlobalAveragePool(node, x):
    return jnp.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True)


def GlobalLpPool(node, x):
    axes = tuple(range(2, x.ndim))
    return jnp.linalg.vector_norm(x, ord=node.get("p", 2), axis=axes, keepdims=True)


def GlobalMaxPool(node, x):
    return jnp.max(x, axis=tuple(range(2, x.ndim)), keepdims=True)


@composed
def LpPool(node, x):
    p = node.get("p", 2)
    sums, _ = _sums(node, x, jnp.power(jnp.abs(x), p))
    return jnp.power(sums, 1.0 / p)


def MaxPool(node, x):
    kernel = node["kernel_shape"]
    strides, dilations, pads, more = window(node, x.shape[2:], kernel)
    pads = [(before, after + extra) for (before, after), extra in zip(pads, more)]
    if not node.wants(1):
        return _windows(x, lowest(x), lax.max, kernel, strides, dilations, pads)
    order = list(range(x.ndim))
    if node.get("storage_order", 0):  # the first axis of the image varies fastest
        order = order[:2] + order[2:][::-1]
    shape = [x.shape[axis] for axis in order]
    places = jnp.transpose(jnp.arange(x.size).reshape(shape), order)

    def larger(one, other):
        takes = (one[0] > other[0]) | ((one[0] == other[0]) & (one[1] < other[1]))
        return tuple(lax.select(takes, a, b) for a, b in zip(one, other))

    lead, first = (1, 1), (scalar(x, lowest(x)), scalar(places, x.size))
    return tuple(
        lax.reduce_window(
            (x, places), first, larger, lead + tuple(kernel), lead + tuple(strides),
            [(0, 0)] * 2 + pads, window_dilation=lead + tuple(dilations),
        )
    )  # fmt: skip


@composed
def MaxUnpool(node, x, places, shape=None):
    kernel = node["kernel_shape"]
    count = len(kernel)
    strides, pads = node.get("strides") or [1] * count, node.get("pads") or [0] * (2 * count)
    inner = list(x.shape[:2])
    for i in range(count):
        inner.append((x.shape[2 + i] - 1) * strides[i] - pads[i] - pads[i + count] + kernel[i])
    total = 1
    for extent in inner:
        total *= extent
    y = jnp.zeros(total, x.dtype).at[places.reshape(-1)].set(x.reshape(-1)).reshape(inner)
    if shape is None:
        return y
    return jnp.pad(y, [(0, wanted - got) for wanted, got in zip(ints(shape), inner)])


@composed
def NegativeLogLikelihoodLoss(node, x, target, weight=None):
    return _loss(node, x, target, weight)


def _loss(node, scores, target, weight):
    """Pick the targets' scores, negated and weighted, and reduce them."""
    ignored = node.get("ignore_index")
    kept = jnp.ones(target.shape, bool) if ignored is None else target != ignored
    safe = jnp.where(kept, target, 0)
    picked = jnp.squeeze(jnp.take_along_axis(scores, jnp.expand_dims(safe, 1), 1), 1)
    weights = jnp.ones_like(picked) if weight is None else jnp.take(weight, safe)
    weights = jnp.where(kept, weights, 0).astype(scores.dtype)
    losses = -picked * weights
    how = node.get("reduction", "mean")
    if how == "none":
        return losses
    return jnp.sum(losses) if how == "sum" else jnp.sum(losses) / jnp.sum(weights)


@composed
def RotaryEmbedding(node, x, cos, sin, places=None):
    heads = node.get("num_heads", 0)
    y = x.reshape(x.shape[0], x.shape[1], heads, -1) if x.ndim == 3 else jnp.swapaxes(x, 1, 2)
    if places is not None:
        cos, sin = jnp.take(cos, places, 0), jnp.take(sin, places, 0)
    cos, sin = jnp.expand_dims(cos, 2), jnp.expand_dims(sin, 2)
    size = node.get("rotary_embedding_dim", 0) or y.shape[3]
    turned, rest = y[..., :size], y[..., size:]
    if node.get("interleaved", 0):
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = jnp.split(turned, 2, -1)
    pair = [cos * a - sin * b, sin * a + cos * b]
    if node.get("interleaved", 0):
        turned = jnp.stack(pair, -1).reshape(turned.shape)
    else:
        turned = jnp.concatenate(pair, -1)
    y = jnp.concatenate([turned, rest], -1)
    return y.reshape(x.shape) if x.ndim == 3 else jnp.swapaxes(y, 1, 2)


@composed
def SoftmaxCrossEntropyLoss(node, x, target, weight=None):
    logs = jax.nn.log_softmax(x, axis=1)
    return _loss(node, logs, target, weight), logs
