"""TensorFlow: recurrent layers.

Eager LSTM and GRU use TensorFlow's own block kernels where their equations are ONNX's. XLA has none
of these, and the kernels have neither other activations nor lengths: there the steps are written
out, as TensorFlow's cells do.
"""

import tensorflow as tf

from ..table import unsupported
from .parts import ints

_PLAIN = {
    "relu": lambda x, a, b: tf.nn.relu(x),
    "tanh": lambda x, a, b: tf.tanh(x),
    "sigmoid": lambda x, a, b: tf.sigmoid(x),
    "softsign": lambda x, a, b: tf.nn.softsign(x),
    "softplus": lambda x, a, b: tf.nn.softplus(x),
    "affine": lambda x, a, b: a * x + b,
    "leakyrelu": lambda x, a, b: tf.nn.leaky_relu(x, a),
    "elu": lambda x, a, b: tf.where(x > 0, x, a * tf.nn.elu(x)),
    "hardsigmoid": lambda x, a, b: tf.clip_by_value(a * x + b, 0, 1),
    "scaledtanh": lambda x, a, b: a * tf.tanh(b * x),
    "thresholdedrelu": lambda x, a, b: tf.where(x > a, x, tf.zeros_like(x)),
}
# What alpha and beta are where the node does not say.
_ALPHA = {"leakyrelu": 0.01, "elu": 1.0, "hardsigmoid": 0.2, "thresholdedrelu": 1.0, "affine": 1.0}
_BETA = {"hardsigmoid": 0.5}


class _Layer(object):
    """What the three layers share: directions, lengths, layout, activations."""

    def __init__(self, node, x, lengths, usual):
        self.node, self.batch_first = node, node.get("layout", 0)
        self.x = tf.transpose(x, [1, 0, 2]) if self.batch_first else x
        self.steps, self.batch = self.x.shape[0], self.x.shape[1]
        lengths = None if lengths is None else ints(lengths)
        self.whole = lengths is None or all(n == self.steps for n in lengths)
        self.lengths = [self.steps] * self.batch if lengths is None else lengths
        way = node.get("direction", "forward")
        self.ways = [False, True] if way == "bidirectional" else [way == "reverse"]
        self.usual = [name.lower() for name in usual]
        names = node.get("activations") or usual * len(self.ways)
        self.names = [name.lower() for name in names]
        self.clip = node.get("clip")

    def activations(self, way):
        """Return the functions of a direction."""
        count, alphas = len(self.usual), list(self.node.get("activation_alpha") or [])
        betas, found = list(self.node.get("activation_beta") or []), []
        for name in self.names:
            if name not in _PLAIN:
                unsupported("the activation %s" % name)
            a = alphas.pop(0) if alphas and name in _ALPHA else _ALPHA.get(name, 1.0)
            b = betas.pop(0) if betas and name in _BETA else _BETA.get(name, 0.0)
            found.append(self._bounded(_PLAIN[name], a, b))
        return found[way * count : (way + 1) * count]

    def _bounded(self, function, a, b):
        clip = self.clip
        if clip is None:
            return lambda x: function(x, a, b)
        return lambda x: function(tf.clip_by_value(x, -clip, clip), a, b)

    def kernel_fits(self, way):
        """Tell whether TensorFlow's own kernel does what the node asks."""
        names = self.names[way * len(self.usual) : (way + 1) * len(self.usual)]
        return (
            tf.executing_eagerly() and self.whole and names == self.usual and self.clip is None
            and self.x.dtype in (tf.float32, tf.float16)
        )  # fmt: skip

    def start(self, state, way, size):
        """Return the first state of a direction."""
        if state is None:
            return tf.zeros([self.batch, size], self.x.dtype)
        return state[:, way] if self.batch_first else state[way]

    def ordered(self, way):
        """Return the steps' inputs in the order of a direction."""
        if not self.ways[way]:
            return self.x
        return self.turned(self.x)

    def turned(self, x):
        """Reverse the steps of each row as far as it is long."""
        if self.whole:
            return tf.reverse(x, [0])
        return tf.reverse_sequence(x, self.lengths, seq_axis=0, batch_axis=1)

    def walk(self, way, step, states):
        """Return all hidden states (the first of `states`) and the last states."""
        x, found = self.ordered(way), []
        for time in range(self.steps):
            new = step(x[time], *states)
            if self.whole:
                states = new
                found.append(new[0])
                continue
            alive = tf.constant([[time < n] for n in self.lengths])
            found.append(tf.where(alive, new[0], tf.zeros_like(new[0])))
            states = [tf.where(alive, n, old) for n, old in zip(new, states)]
        return tf.stack(found), states

    def results(self, hidden, *lasts):
        """Return ONNX's outputs: of all directions, in its order of axes."""
        hidden = [self.turned(h) if back else h for h, back in zip(hidden, self.ways)]
        y = tf.stack(hidden, 1)
        lasts = [tf.stack(one, 1 if self.batch_first else 0) for one in lasts]
        return tuple([tf.transpose(y, [2, 0, 1, 3]) if self.batch_first else y] + lasts)


def _gates(matrix, order):
    """Return the parts of a matrix of stacked gates in another order, side by side."""
    parts = tf.split(matrix, len(order), axis=0)
    return tf.concat([parts[place] for place in order], 0)


def GRU(node, x, w, r, b=None, lengths=None, state=None):
    size, hidden, lasts = r.shape[-1], [], []
    layer = _Layer(node, x, lengths, ["Sigmoid", "Tanh"])
    after = node.get("linear_before_reset", 0)
    for way in range(len(layer.ways)):
        bias = tf.zeros([6 * size], x.dtype) if b is None else b[way]
        h = layer.start(state, way, size)
        if layer.kernel_fits(way) and not after:
            step = _gru_kernel(w[way], r[way], bias)
        else:
            step = _gru_step(layer.activations(way), w[way], r[way], bias, after)
        y, (h,) = layer.walk(way, step, [h])
        hidden.append(y)
        lasts.append(h)
    return layer.results(hidden, lasts)


def _gru_kernel(w, r, bias):
    """Return a step with TensorFlow's kernel, whose gates are reset, update."""
    wz, wr, wh = tf.split(w, 3)
    rz, rr, rh = tf.split(r, 3)
    bz, br, bh = tf.split(bias[: bias.shape[0] // 2] + bias[bias.shape[0] // 2 :], 3)
    both = tf.transpose(tf.concat([tf.concat([wr, wz], 0), tf.concat([rr, rz], 0)], 1))
    new = tf.transpose(tf.concat([wh, rh], 1))

    def step(x, h):
        result = tf.raw_ops.GRUBlockCell(
            x=x, h_prev=h, w_ru=both, w_c=new, b_ru=tf.concat([br, bz], 0), b_c=bh
        )
        return [result.h]

    return step


def _gru_step(activations, w, r, bias, after):
    """Return a step written out."""
    f, g = activations
    size = r.shape[-1]
    w_bias, r_bias = bias[: 3 * size], bias[3 * size :]

    def step(x, h):
        xz, xr, xh = tf.split(tf.matmul(x, w, transpose_b=True) + w_bias, 3, axis=1)
        both = tf.matmul(h, r[: 2 * size], transpose_b=True) + r_bias[: 2 * size]
        hz, hr = tf.split(both, 2, axis=1)
        update, reset = f(xz + hz), f(xr + hr)
        if after:
            part = tf.matmul(h, r[2 * size :], transpose_b=True) + r_bias[2 * size :]
            new = g(xh + reset * part)
        else:
            part = tf.matmul(reset * h, r[2 * size :], transpose_b=True) + r_bias[2 * size :]
            new = g(xh + part)
        return [(1 - update) * new + update * h]

    return step


def LSTM(node, x, w, r, b=None, lengths=None, state=None, cell=None, peep=None):
    size, hidden, lasts, cells = r.shape[-1], [], [], []
    layer = _Layer(node, x, lengths, ["Sigmoid", "Tanh", "Tanh"])
    coupled = node.get("input_forget", 0)
    for way in range(len(layer.ways)):
        bias = tf.zeros([8 * size], x.dtype) if b is None else b[way]
        bias = bias[: 4 * size] + bias[4 * size :]
        peeps = [tf.zeros([size], x.dtype)] * 3 if peep is None else tf.split(peep[way], 3)
        states = [layer.start(state, way, size), layer.start(cell, way, size)]
        if layer.kernel_fits(way) and not coupled:
            use = peep is not None
            y, states = _lstm_kernel(layer.ordered(way), w[way], r[way], bias, peeps, use, states)
        else:
            functions = layer.activations(way)
            step = _lstm_step(functions, w[way], r[way], bias, peeps, coupled)
            y, states = layer.walk(way, step, states)
        hidden.append(y)
        lasts.append(states[0])
        cells.append(states[1])
    return layer.results(hidden, lasts, cells)


def _lstm_kernel(x, w, r, bias, peeps, use, states):
    """Run all steps with TensorFlow's kernel, whose gates are input, forget, cell, output."""
    order = [0, 2, 3, 1]
    matrix = tf.transpose(tf.concat([_gates(w, order), _gates(r, order)], 1))
    result = tf.raw_ops.BlockLSTMV2(
        seq_len_max=tf.constant(x.shape[0], tf.int64), x=x, cs_prev=states[1], h_prev=states[0],
        w=matrix, wci=peeps[0], wcf=peeps[2], wco=peeps[1], b=_gates(bias, order),
        cell_clip=0.0, use_peephole=use,
    )  # fmt: skip
    return result.h, [result.h[-1], result.cs[-1]]


def _lstm_step(activations, w, r, bias, peeps, coupled):
    """Return a step written out."""
    f, g, last = activations
    peep_in, peep_out, peep_forget = peeps

    def step(x, h, c):
        gates = tf.matmul(x, w, transpose_b=True) + tf.matmul(h, r, transpose_b=True) + bias
        i, o, forget, new = tf.split(gates, 4, axis=1)
        i = f(i + peep_in * c)
        forget = 1 - i if coupled else f(forget + peep_forget * c)
        c = forget * c + i * g(new)
        return [f(o + peep_out * c) * last(c), c]

    return step


def RNN(node, x, w, r, b=None, lengths=None, state=None):
    size, hidden, lasts = r.shape[-1], [], []
    layer = _Layer(node, x, lengths, ["Tanh"])
    for way in range(len(layer.ways)):
        bias = tf.zeros([2 * size], x.dtype) if b is None else b[way]
        step = _rnn_step(layer.activations(way)[0], w[way], r[way], bias[:size] + bias[size:])
        y, (h,) = layer.walk(way, step, [layer.start(state, way, size)])
        hidden.append(y)
        lasts.append(h)
    return layer.results(hidden, lasts)


def _rnn_step(f, w, r, bias):
    def step(x, h):
        return [f(tf.matmul(x, w, transpose_b=True) + tf.matmul(h, r, transpose_b=True) + bias)]

    return step
