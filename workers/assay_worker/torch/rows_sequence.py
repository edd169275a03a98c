"""PyTorch: recurrent layers and attention."""

import math

import torch
from torch.nn import functional
from torch.nn.utils import rnn

from ..table import composed, since, unsupported
from .parts import ints, kind


@since("2.5")
def Attention(node, q, k, v, mask=None, past_key=None, past_value=None, lengths=None):
    packed = q.dim() == 3
    if packed:
        q = _heads(q, node["q_num_heads"])
        k, v = _heads(k, node["kv_num_heads"]), _heads(v, node["kv_num_heads"])
    if past_key is not None:
        k, v = torch.cat([past_key, k], 2), torch.cat([past_value, v], 2)
    allowed = _allowed(node, q, k, past_key, lengths)
    causal = bool(node.get("is_causal", 0)) and allowed is None and mask is None
    if node.get("is_causal", 0) and not causal:
        allowed = _both(allowed, _frontier(node, q, k, past_key, lengths, (-1, 0)))
    mask = _merged(mask, allowed, q, k)
    if node.get("softcap", 0) or node.wants(3) or node.get("softmax_precision"):
        y, scores = _attention_in_steps(node, q, k, v, mask, causal)
    else:
        scores = None
        y = functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=causal, scale=node.get("scale"),
            enable_gqa=q.shape[1] != k.shape[1],
        )  # fmt: skip
    if packed:
        y = y.transpose(1, 2).reshape(y.shape[0], y.shape[2], -1)
    return y, k, v, scores


def GRU(node, x, w, r, b=None, lengths=None, start=None):
    _refuse(node, ["Sigmoid", "Tanh"])
    if not node.get("linear_before_reset", 0):
        if x.shape[1 if node.get("layout", 0) else 0] != 1 or start is not None:
            unsupported("linear_before_reset=0")
        b = _without_reset(b)  # before the first step there is nothing to reset
    y, last = _recurrent(node, x, (w, r, b), lengths, (start,), torch.gru, (1, 0, 2))
    return y, last


def LSTM(node, x, w, r, b=None, lengths=None, start=None, start_cell=None, peepholes=None):
    _refuse(node, ["Sigmoid", "Tanh", "Tanh"])
    if peepholes is not None or node.get("input_forget", 0):
        unsupported("peepholes" if peepholes is not None else "input_forget")
    starts = (start, start_cell)
    return _recurrent(node, x, (w, r, b), lengths, starts, torch.lstm, (0, 2, 3, 1))


def RNN(node, x, w, r, b=None, lengths=None, start=None):
    names = set(node.get("activations") or ["Tanh"])
    functions = {"Tanh": torch.rnn_tanh, "Relu": torch.rnn_relu}
    if len(names) != 1 or not names <= set(functions):
        unsupported("activations %s" % ", ".join(sorted(names)))
    _refuse(node, None)
    function = functions[names.pop()]
    return _recurrent(node, x, (w, r, b), lengths, (start,), function, (0,))


@composed
def RotaryEmbedding(node, x, cosines, sines, places=None):
    packed = x.dim() == 3
    by_heads = _heads(x, node["num_heads"]) if packed else x
    if places is not None:
        cosines, sines = cosines[places.to(torch.int64)], sines[places.to(torch.int64)]
    cosines, sines = cosines.unsqueeze(1), sines.unsqueeze(1)
    turned = node.get("rotary_embedding_dim", 0) or by_heads.shape[-1]
    part, rest = by_heads[..., :turned], by_heads[..., turned:]
    between = node.get("interleaved", 0)
    a, b = (part[..., 0::2], part[..., 1::2]) if between else part.chunk(2, -1)
    a, b = a * cosines - b * sines, a * sines + b * cosines
    part = torch.stack([a, b], -1).flatten(-2) if between else torch.cat([a, b], -1)
    y = torch.cat([part, rest], -1)
    return y.transpose(1, 2).reshape(x.shape) if packed else y


def _allowed(node, q, k, past_key, lengths):
    """Return which keys each query may see apart from the plain order, or None for all."""
    window = node.get("left_window_size", -1), node.get("right_window_size", -1)
    allowed = None
    if window != (-1, -1):
        allowed = _frontier(node, q, k, past_key, lengths, window)
    if lengths is not None:
        places = torch.arange(k.shape[2])
        allowed = _both(allowed, (places < lengths.reshape(-1, 1, 1, 1)))
    elif past_key is not None and node.get("is_causal", 0) and allowed is None:
        allowed = _frontier(node, q, k, past_key, lengths, (-1, 0))
    return allowed


def _attention_in_steps(node, q, k, v, mask, causal):
    """Return what torch's own call keeps to itself too: the scores; and cap or widen them."""
    if q.shape[1] != k.shape[1]:
        repeats = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
    scale, cap = node.get("scale") or 1 / math.sqrt(q.shape[-1]), node.get("softcap", 0)
    steps = [torch.matmul(q * math.sqrt(scale), k.transpose(-1, -2) * math.sqrt(scale))]
    steps.append(cap * torch.tanh(steps[0] / cap) if cap else steps[0])
    if causal:
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    scores = steps[1]
    if mask is not None:
        bias = mask
        if mask.dtype == torch.bool:
            bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
        scores = scores + bias
    steps.append(scores)
    precision = node.get("softmax_precision")
    shares = torch.softmax(scores.to(kind(precision)) if precision else scores, -1).to(q.dtype)
    shares = shares.masked_fill((scores == -math.inf).all(-1, keepdim=True), 0.0)
    steps.append(shares)
    return torch.matmul(shares, v), steps[node.get("qk_matmul_output_mode", 0)]


def _both(a, b):
    return b if a is None else torch.logical_and(a, b)


def _frontier(node, q, k, past_key, lengths, window):
    """Return which keys lie in a window around each query (-1: without an end)."""
    start = 0 if past_key is None else past_key.shape[2]
    if lengths is not None and past_key is None:
        start = lengths.reshape(-1, 1, 1, 1) - q.shape[2]
    ahead = torch.arange(k.shape[2]) - (torch.arange(q.shape[2]).unsqueeze(1) + start)
    left, right = window
    seen = torch.ones_like(ahead, dtype=torch.bool)
    if left >= 0:
        seen = seen & (ahead >= -left)
    return seen & (ahead <= right) if right >= 0 else seen


def _heads(x, count):
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def _merged(mask, allowed, q, k):
    """Return a mask as torch takes it, with what else is not allowed in it."""
    if mask is not None and mask.shape[-1] < k.shape[2]:
        fill = False if mask.dtype == torch.bool else -math.inf
        mask = functional.pad(mask, [0, k.shape[2] - mask.shape[-1]], value=fill)
    if mask is None or allowed is None:
        return allowed if mask is None else mask
    if mask.dtype == torch.bool:
        return torch.logical_and(mask, allowed)
    return torch.where(allowed, mask, torch.tensor(-math.inf, dtype=mask.dtype))


def _ordered(part, order):
    """Return rows of gates in torch's order."""
    gates = part.chunk(len(order), 0)
    return torch.cat([gates[n] for n in order], 0)


def _parameters(weights, order, directions):
    """Return ONNX's weights of all directions as torch's list of parameters."""
    w, r, b = weights
    parameters = []
    for n in range(directions):
        parameters += [_ordered(w[n], order), _ordered(r[n], order)]
        if b is not None:
            parameters += [_ordered(half, order) for half in b[n].chunk(2, 0)]
    return parameters


def _recurrent(node, x, weights, lengths, starts, function, order):
    """Call one of torch's recurrent layers; time goes first within."""
    batch_first = node.get("layout", 0)
    direction = node.get("direction", "forward")
    hidden, directions = weights[1].shape[-1], weights[0].shape[0]
    if batch_first:
        x = x.transpose(0, 1)
        starts = [start if start is None else start.transpose(0, 1) for start in starts]
    x = x.flip(0) if direction == "reverse" else x
    time, batch = x.shape[:2]
    zeros = torch.zeros(directions, batch, hidden, dtype=x.dtype)
    starts = [zeros if start is None else start for start in starts]
    state = tuple(starts) if len(starts) > 1 else starts[0]
    parameters = _parameters(weights, order, directions)
    options = (weights[2] is not None, 1, 0.0, False, directions == 2)
    extents = ints(lengths)
    if extents is None or all(extent == time for extent in extents):
        results = function(x, state, parameters, *(options + (False,)))
        y = results[0]
    else:
        if direction == "reverse":
            unsupported("sequences of several lengths in reverse")
        y, results = _packed(function, x, extents, starts, parameters, options)
    y = y.reshape(time, batch, directions, hidden).transpose(1, 2)
    y = y.flip(0) if direction == "reverse" else y
    last = list(results[1:])
    if batch_first:
        y, last = y.permute(2, 0, 1, 3), [part.transpose(0, 1) for part in last]
    return (y,) + tuple(last)


def _packed(function, x, extents, starts, parameters, options):
    """Run over sequences of several lengths, the way torch's modules do it."""
    packed = rnn.pack_padded_sequence(x, torch.tensor(extents), enforce_sorted=False)
    starts = [start.index_select(1, packed.sorted_indices) for start in starts]
    state = tuple(starts) if len(starts) > 1 else starts[0]
    results = function(packed.data, packed.batch_sizes, state, parameters, *options)
    whole = rnn.PackedSequence(
        results[0], packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices
    )
    y, _ = rnn.pad_packed_sequence(whole, total_length=x.shape[0])
    last = [part.index_select(1, packed.unsorted_indices) for part in results[1:]]
    return y, [None] + last


def _refuse(node, activations):
    """Refuse what torch's layers cannot do."""
    if node.get("clip"):
        unsupported("clip")
    given = node.get("activations")
    if activations and given and given[: len(activations)] != activations:
        unsupported("activations %s" % ", ".join(given))
    if activations and given and given[len(activations) :] not in ([], activations):
        unsupported("activations %s" % ", ".join(given))


def _without_reset(b):
    """Return a GRU's bias with the recurrent one of the new gate where no reset touches it."""
    if b is None:
        return None
    outer, inner = b.chunk(2, 1)
    zeros = torch.zeros_like(inner.chunk(3, 1)[2])
    moved = torch.cat([zeros, zeros, inner.chunk(3, 1)[2]], 1)
    return torch.cat([outer + moved, inner - moved], 1)


MISSING = {"LinearAttention": "torch has no linear attention"}
