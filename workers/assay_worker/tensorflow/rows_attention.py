"""TensorFlow: attention, of which tf.nn has no call: what its users write."""

import math

import tensorflow as tf

from ..table import composed, unsupported
from .parts import along, dims, dtype, opened, rank


@composed
def Attention(node, q, k, v, mask=None, past_key=None, past_value=None, lengths=None):
    packed = rank(q) == 3
    if packed:
        q = _heads(q, node["q_num_heads"])
        k, v = [_heads(one, node["kv_num_heads"]) for one in (k, v)]
    past = 0 if past_key is None else past_key.shape[2]
    if past_key is not None:
        k, v = tf.concat([past_key, k], 2), tf.concat([past_value, v], 2)
    present, kind = (k, v), q.dtype
    scale = math.sqrt(node.get("scale", 1 / math.sqrt(q.shape[3])))
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = tf.repeat(k, groups, 1), tf.repeat(v, groups, 1)
    scores = tf.matmul(q * tf.cast(scale, kind), k * tf.cast(scale, kind), transpose_b=True)
    seen, cap = [scores], node.get("softcap", 0.0)
    if cap:
        scores = cap * tf.tanh(scores / cap)
    seen.append(scores)
    allowed, bias = _allowed(node, q.shape[2], k.shape[2], past, lengths), None
    if mask is not None:
        bias = mask
        if mask.dtype == tf.bool:
            bias = tf.where(mask, tf.cast(0, kind), tf.cast(float("-inf"), kind))
        short = k.shape[2] - mask.shape[-1]
        wide = [(0, 0)] * (rank(mask) - 1) + [(0, short)]
        bias = tf.pad(bias, wide, constant_values=tf.cast(float("-inf"), kind))
        scores = scores + bias
    if allowed is not None:
        scores = tf.where(allowed, scores, tf.cast(float("-inf"), kind))
    seen.append(scores)
    wide = tf.cast(scores, dtype(node["softmax_precision"])) if _precise(node) else scores
    weights = tf.cast(tf.nn.softmax(wide), kind)
    # A row of which nothing may be seen is zero in ONNX; softmax has no number for it.
    none = tf.reduce_all(scores == tf.cast(float("-inf"), kind), -1, keepdims=True)
    weights = tf.where(none, tf.zeros_like(weights), weights)
    seen.append(weights)
    y = tf.matmul(weights, v)
    if packed:
        y = tf.transpose(y, [0, 2, 1, 3])
        y = tf.reshape(y, dims(y)[:2] + [y.shape[2] * y.shape[3]])
    return (y,) + present + (seen[node.get("qk_matmul_output_mode", 0)],)


def _precise(node):
    return node.get("softmax_precision", 0)


def _heads(x, count):
    """Return batch, length, heads and size in one as batch, heads, length, size."""
    batch, length, size = dims(x)
    return tf.transpose(tf.reshape(x, [batch, length, count, size // count]), [0, 2, 1, 3])


def _allowed(node, queries, keys, past, lengths):
    """Return which key each query may see, or None for all."""
    left, right = node.get("left_window_size", -1), node.get("right_window_size", -1)
    causal = node.get("is_causal", 0)
    offset = tf.constant(past, tf.int64)
    if lengths is not None:
        lengths = tf.reshape(tf.cast(lengths, tf.int64), [-1, 1, 1, 1])
        offset = lengths - queries
    place = tf.range(queries, dtype=tf.int64)[:, None] + offset
    key, found = tf.range(keys, dtype=tf.int64), []
    if causal:
        found.append(key <= place)
    if left >= 0:
        found.append(place - key <= left)
    if right >= 0:
        found.append(key - place <= right)
    if lengths is not None:
        found.append(key < lengths)
    allowed = None
    for one in found:
        allowed = one if allowed is None else tf.logical_and(allowed, one)
    return allowed


@composed
def CausalConvWithState(node, x, w, b=None, past=None):
    length = w.shape[2]
    past = tf.zeros(dims(x)[:2] + [length - 1], x.dtype) if past is None else past
    whole = tf.concat([past, x], 2)
    picture = opened(tf.transpose(whole, [0, 2, 1]), 1)
    kernel = opened(tf.transpose(w, [2, 0, 1]), 0)
    y = tf.nn.depthwise_conv2d(picture, kernel, [1, 1, 1, 1], "VALID")
    y = tf.transpose(tf.squeeze(y, [1]), [0, 2, 1])
    if b is not None:
        y += along(b, y)
    if node.get("activation", "none") in ("silu", "swish"):
        y = tf.nn.silu(y)
    return y, whole[:, :, whole.shape[2] - (length - 1) :]


@composed
def LinearAttention(node, q, k, v, past=None, decay=None, beta=None):
    kind, count, few = q.dtype, node["q_num_heads"], node["kv_num_heads"]
    q, k, v = [tf.cast(_heads(one, n), tf.float32) for one, n in ((q, count), (k, few), (v, few))]
    batch, _, steps, size = dims(q)
    state = tf.zeros([batch, few, size, v.shape[3]]) if past is None else past
    state_kind, state = kind if past is None else past.dtype, tf.cast(state, tf.float32)
    scale = node.get("scale", 0.0) or 1 / math.sqrt(size)
    if decay is not None:
        decay = tf.exp(tf.cast(_heads(decay, few), tf.float32))
    if beta is not None:
        beta = tf.cast(_heads(beta, beta.shape[2]), tf.float32)
    found = []
    for step in range(steps):
        key, value = k[:, :, step], v[:, :, step]
        if decay is not None:
            state *= decay[:, :, step, :, None]
        if beta is not None:
            value = beta[:, :, step] * (value - tf.einsum("bhdm,bhd->bhm", state, key))
        state += tf.einsum("bhd,bhm->bhdm", key, value)
        read = tf.repeat(state, count // few, 1) if count > few else state
        found.append(scale * tf.einsum("bhd,bhdm->bhm", q[:, :, step], read))
    y = tf.transpose(tf.stack(found, 1), [0, 1, 2, 3])
    return tf.cast(tf.reshape(y, [batch, steps, -1]), kind), tf.cast(state, state_kind)


@composed
def RotaryEmbedding(node, x, cos, sin, places=None):
    shape, packed = dims(x), rank(x) == 3
    if packed:
        heads = node.get("num_heads", 0) or unsupported("heads that are not told")
        x = tf.reshape(x, shape[:2] + [heads, shape[2] // heads])
    else:
        x = tf.transpose(x, [0, 2, 1, 3])
    size = node.get("rotary_embedding_dim", 0) or x.shape[3]
    turning, rest = x[..., :size], x[..., size:]
    if places is not None:
        cos, sin = tf.gather(cos, places), tf.gather(sin, places)
    cos, sin = opened(cos), opened(sin)
    if node.get("interleaved", 0):
        one, two = turning[..., 0::2], turning[..., 1::2]
    else:
        one, two = tf.split(turning, 2, -1)
    parts = [cos * one - sin * two, sin * one + cos * two]
    if node.get("interleaved", 0):
        turned = tf.reshape(tf.stack(parts, -1), dims(turning))
    else:
        turned = tf.concat(parts, -1)
    y = tf.concat([turned, rest], -1)
    return tf.reshape(y, shape) if packed else tf.transpose(y, [0, 2, 1, 3])
