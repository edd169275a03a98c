"""JAX: recurrence over time, as jax.lax.scan."""

import jax
import jax.numpy as jnp
from jax import lax

from ..table import composed, unsupported

_DEFAULTS = {"LeakyRelu": (0.01, 0), "ThresholdedRelu": (1.0, 0), "HardSigmoid": (0.2, 0.5),
             "Elu": (1.0, 0), "ScaledTanh": (1.0, 1.0), "Affine": (1.0, 0)}  # fmt: skip
_FUNCTIONS = {
    "sigmoid": lambda a, b: jax.nn.sigmoid,
    "tanh": lambda a, b: jnp.tanh,
    "relu": lambda a, b: jax.nn.relu,
    "softsign": lambda a, b: jax.nn.soft_sign,
    "softplus": lambda a, b: jax.nn.softplus,
    "leakyrelu": lambda a, b: lambda x: jax.nn.leaky_relu(x, a),
    "elu": lambda a, b: lambda x: jax.nn.elu(x, a),
    "thresholdedrelu": lambda a, b: lambda x: jnp.where(x > a, x, 0),
    "hardsigmoid": lambda a, b: lambda x: jnp.clip(a * x + b, 0, 1),
    "scaledtanh": lambda a, b: lambda x: a * jnp.tanh(b * x),
    "affine": lambda a, b: lambda x: a * x + b,
}


def _activations(node, direction, names):
    """Return the activations of a direction."""
    count, told = len(names), node.get("activations")
    names = told[direction * count : (direction + 1) * count] if told else names
    alphas, betas = node.get("activation_alpha") or [], node.get("activation_beta") or []
    found = []
    for i, name in enumerate(names):
        defaults = {key.lower(): value for key, value in _DEFAULTS.items()}
        alpha, beta = defaults.get(name.lower(), (0, 0))
        place = direction * count + i
        alpha = alphas[place] if place < len(alphas) else alpha
        beta = betas[place] if place < len(betas) else beta
        if name.lower() not in _FUNCTIONS:
            unsupported("activation %s" % name)
        found.append(_FUNCTIONS[name.lower()](alpha, beta))
    return found


def _run(node, x, w, lengths, states, names, make):
    """Scan each direction; `make` returns the step of one, which gives the new states."""
    batch_first = node.get("layout", 0)
    if batch_first:
        x, states = jnp.swapaxes(x, 0, 1), [jnp.swapaxes(s, 0, 1) for s in states]
    way, outputs, ends = node.get("direction", "forward"), [], []
    for i in range(w.shape[0]):
        step = make(i, _activations(node, i, names))
        backward = way == "reverse" or i == 1

        def advance(carried, given, step=step):
            here, time = given
            new = step(here, carried)
            if lengths is None:
                return new, new[0]
            live = (time < lengths)[:, None]
            return tuple(jnp.where(live, n, o) for n, o in zip(new, carried)), jnp.where(
                live, new[0], 0
            )

        times = jnp.arange(x.shape[0])
        end, column = lax.scan(advance, tuple(s[i] for s in states), (x, times), reverse=backward)
        outputs.append(column)
        ends.append(end)
    y = jnp.stack(outputs, 1)
    last = [jnp.stack(one, 0) for one in zip(*ends)]
    if batch_first:
        y, last = jnp.transpose(y, (2, 0, 1, 3)), [jnp.swapaxes(s, 0, 1) for s in last]
    return (y,) + tuple(last)


def _state(node, x, w, given):
    """Return a state to begin with, in the layout of the node."""
    if given is not None:
        return given
    hidden = node["hidden_size"]
    if node.get("layout", 0):
        return jnp.zeros((x.shape[0], w.shape[0], hidden), x.dtype)
    return jnp.zeros((w.shape[0], x.shape[1], hidden), x.dtype)


def _bounded(node, x):
    limit = node.get("clip")
    return x if limit is None else jnp.clip(x, -limit, limit)


def _biases(b, i, like):
    """Return the biases of the input and of the state."""
    if b is None:
        return jnp.zeros(like.shape[1], like.dtype), jnp.zeros(like.shape[1], like.dtype)
    return jnp.split(b[i], 2)


@composed
def GRU(node, x, w, r, b=None, lengths=None, state=None):
    def make(i, functions):
        gate, inner = functions
        bias, bias_r = _biases(b, i, w)
        wz, wr, wh = jnp.split(w[i], 3)
        rz, rr, rh = jnp.split(r[i], 3)
        bz, br, bh = jnp.split(bias, 3)
        cz, cr, ch = jnp.split(bias_r, 3)

        def step(here, states):
            h = states[0]
            z = gate(_bounded(node, here @ wz.T + h @ rz.T + bz + cz))
            reset = gate(_bounded(node, here @ wr.T + h @ rr.T + br + cr))
            if node.get("linear_before_reset", 0):
                new = here @ wh.T + reset * (h @ rh.T + ch) + bh
            else:
                new = here @ wh.T + (reset * h) @ rh.T + ch + bh
            new = inner(_bounded(node, new))
            return ((1 - z) * new + z * h,)

        return step

    states = [_state(node, x, w, state)]
    return _run(node, x, w, lengths, states, ["Sigmoid", "Tanh"], make)


@composed
def LinearAttention(node, q, k, v, past=None, decay=None, beta=None):
    heads, shared = node["q_num_heads"], node["kv_num_heads"]
    rule = node.get("update_rule", "gated_delta")
    q, k, v = (t.reshape(t.shape[:2] + (n, -1)) for t, n in ((q, heads), (k, shared), (v, shared)))
    size, group, kind = q.shape[3], heads // shared, q.dtype
    scale = node.get("scale", 0.0) or size**-0.5
    if past is None:
        state = jnp.zeros((q.shape[0], shared, size, v.shape[3]), kind)
    else:
        state = past
    wide = [q, k, v]
    wide.append(None if decay is None else decay.reshape(decay.shape[:2] + (shared, -1)))
    wide.append(None if beta is None else beta[..., None])
    times = [None if t is None else jnp.moveaxis(t.astype("float32"), 1, 0) for t in wide]

    def step(before, given):
        query, key, value, fade, rate = given
        if "gated" in rule:
            before = before * jnp.exp(fade)[..., None]
        if "delta" in rule:
            value = rate * (value - jnp.einsum("bhkv,bhk->bhv", before, key))
        after = before + jnp.einsum("bhk,bhv->bhkv", key, value)
        spread = jnp.repeat(after, group, 1)
        return after, scale * jnp.einsum("bhk,bhkv->bhv", query, spread)

    last, y = lax.scan(step, state.astype("float32"), times)
    y = jnp.moveaxis(y, 0, 1)
    return y.reshape(y.shape[:2] + (-1,)).astype(kind), last.astype(state.dtype)


@composed
def LSTM(node, x, w, r, b=None, lengths=None, state=None, cell=None, peep=None):
    def make(i, functions):
        gate, inner, outer = functions
        bias = sum(_biases(b, i, w))
        pi, po, pf = (0, 0, 0) if peep is None else jnp.split(peep[i], 3)

        def step(here, states):
            h, c = states
            parts = jnp.split(here @ w[i].T + h @ r[i].T + bias, 4, -1)
            new = gate(_bounded(node, parts[0] + pi * c))
            if node.get("input_forget", 0):
                forget = 1 - new
            else:
                forget = gate(_bounded(node, parts[2] + pf * c))
            c = forget * c + new * inner(_bounded(node, parts[3]))
            out = gate(_bounded(node, parts[1] + po * c))
            return out * outer(c), c

        return step

    states = [_state(node, x, w, state), _state(node, x, w, cell)]
    return _run(node, x, w, lengths, states, ["Sigmoid", "Tanh", "Tanh"], make)


@composed
def RNN(node, x, w, r, b=None, lengths=None, state=None):
    def make(i, functions):
        bias = sum(_biases(b, i, w))

        def step(here, states):
            total = here @ w[i].T + states[0] @ r[i].T + bias
            return (functions[0](_bounded(node, total)),)

        return step

    return _run(node, x, w, lengths, [_state(node, x, w, state)], ["Tanh"], make)
