"""TensorFlow: texts."""

import tensorflow as tf

from ..table import composed, unsupported
from .parts import rank


def RegexFullMatch(node, x):
    return tf.strings.regex_full_match(x, node["pattern"])


def StringConcat(node, x, y):
    shape = tf.broadcast_static_shape(x.shape, y.shape)
    return tf.strings.join([tf.broadcast_to(x, shape), tf.broadcast_to(y, shape)])


@composed
def StringNormalizer(node, x):
    stop, how = node.get("stopwords") or [], node.get("case_change_action", "NONE")
    change = {"LOWER": tf.strings.lower, "UPPER": tf.strings.upper}.get(how)
    if stop:
        words = tf.constant(stop)
        key = x
        if not node.get("is_case_sensitive", 0):
            key, words = tf.strings.lower(x, "utf-8"), tf.strings.lower(words, "utf-8")
        keep = tf.logical_not(tf.reduce_any(tf.expand_dims(key, -1) == words, -1))
        x = tf.boolean_mask(x, keep) if rank(x) == 1 else tf.boolean_mask(x[0], keep[0])[None]
    if x.shape[-1] == 0:
        return tf.constant([""] if rank(x) == 1 else [[""]])
    return x if change is None else change(x, "utf-8")


@composed
def StringSplit(node, x):
    most, mark = node.get("maxsplit", -1), node.get("delimiter")
    flat = tf.reshape(x, [-1])
    if mark:
        # An empty text has one empty part in ONNX, and none in TensorFlow.
        parts = tf.strings.split(flat, mark, most)
    else:
        parts = tf.strings.split(flat, None, most)
    counts = tf.reshape(tf.cast(parts.row_lengths(), tf.int64), tf.shape(x))
    texts = parts.to_tensor("")
    if texts.shape[-1] is None:
        unsupported("parts that depend on values, while tracing")
    return tf.reshape(texts, x.shape.as_list() + [texts.shape[-1]]), counts
