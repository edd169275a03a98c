"""Small nets as TensorFlow 1 builds them: variables, losses, gradients, steps, control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from families import DRAW, Fed

V1 = tf.compat.v1
TRAIN = V1.train


def variable(name: str, *shape: int, resource: bool = False, low: float = -1) -> Any:
    """Return a variable with a random value."""
    start = DRAW.uniform(low, 1, shape).astype(np.float32)
    return V1.get_variable(name, initializer=start, use_resource=resource)


def optimizers(resource: bool) -> Callable[[Fed], None]:
    """One step of every optimiser, on variables of either kind."""

    def build(f: Fed) -> None:
        x = f.real(5, 3)
        for i, optimizer in enumerate(
            [
                TRAIN.GradientDescentOptimizer(0.1),
                TRAIN.MomentumOptimizer(0.1, 0.9),
                TRAIN.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
                TRAIN.AdamOptimizer(0.1),
                TRAIN.RMSPropOptimizer(0.1, momentum=0.5),
                TRAIN.RMSPropOptimizer(0.1, centered=True),
                TRAIN.AdagradOptimizer(0.1),
                TRAIN.AdadeltaOptimizer(0.1),
            ]
        ):
            w = variable(f"w{i}", 3, 2, resource=resource)
            optimizer.minimize(tf.reduce_sum(tf.square(tf.matmul(x, w))))

    return build


def keras_momentum(f: Fed) -> None:
    """Keras's own step with momentum, which only raw operations still give."""
    more = {"lr": tf.constant(0.1), "grad": f.real(3), "momentum": tf.constant(0.9)}
    for i, nesterov in enumerate([False, True]):
        w, a = variable(f"w{i}", 3, resource=True), variable(f"a{i}", 3, resource=True)
        tf.raw_ops.ResourceApplyKerasMomentum(
            var=w.handle, accum=a.handle, use_nesterov=nesterov, **more
        )


def state(f: Fed) -> None:
    """Assign to variables of both kinds."""
    for resource in [False, True]:
        kind = "resource" if resource else "ref"
        w = variable(f"w_{kind}", 4, 3, resource=resource)
        V1.is_variable_initialized(w)
        V1.assign(w, f.real(4, 3))
        V1.assign_add(w, f.real(4, 3))
        V1.assign_sub(w, f.real(4, 3))
        for op in [V1.scatter_add, V1.scatter_sub, V1.scatter_update]:
            op(w, f([3, 1], np.int32), f.real(2, 3))
        tf.gather(w, f([2, 0], np.int32))


def embedding(f: Fed) -> None:
    """Take a sparse gradient: rows of a table, by root-mean-square propagation."""
    table = variable("table", 6, 3)
    rows = tf.nn.embedding_lookup(table, f([1, 4, 1], np.int32))
    TRAIN.RMSPropOptimizer(0.1, momentum=0.5).minimize(tf.reduce_sum(tf.square(rows)))


def perceptron(f: Fed) -> None:
    """Two dense layers, cross-entropy written by hand, Adam."""
    x, labels = f.real(4, 6), f(np.eye(3)[[0, 2, 1, 1]])
    hidden = tf.nn.relu(tf.matmul(x, variable("w1", 6, 5)) + variable("b1", 5))
    logits = tf.matmul(hidden, variable("w2", 5, 3)) + variable("b2", 3)
    probability = tf.nn.softmax(logits)
    loss = tf.reduce_mean(-tf.reduce_sum(labels * V1.log(probability), 1))
    TRAIN.AdamOptimizer(0.01).minimize(loss)
    right = tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))
    V1.summary.scalar("accuracy", tf.reduce_mean(tf.cast(right, tf.float32)))
    V1.summary.merge_all()


def convolutional(f: Fed) -> None:
    """Convolution, batch normalisation, pools, a dense layer, dropout, momentum."""
    x, labels = f.real(2, 8, 8, 3), f([1, 0], np.int32)
    y = tf.nn.conv2d(x, variable("c1", 3, 3, 3, 4), strides=2, padding="SAME")
    y, _, _ = V1.nn.fused_batch_norm(y, variable("g", 4), variable("o", 4))
    y = tf.nn.max_pool2d(tf.nn.relu6(y), 2, 1, "SAME")
    y = tf.nn.depthwise_conv2d(y, variable("d1", 3, 3, 4, 1), [1, 1, 1, 1], "SAME")
    y = tf.nn.bias_add(y, variable("b", 4))
    y = tf.nn.avg_pool2d(tf.nn.elu(y), 2, 2, "VALID")
    y = tf.reshape(y, [-1, 16])
    logits = tf.matmul(y, variable("w", 16, 3))
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(loss) + 0.01 * tf.nn.l2_loss(y)
    TRAIN.MomentumOptimizer(0.1, 0.9).minimize(loss)


def attention(f: Fed) -> None:
    """One head of attention over batches with its gradient."""
    x = f.real(2, 5, 4)
    q, k, v = (tf.einsum("bij,jk->bik", x, variable(n, 4, 4)) for n in "qkv")
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0)
    y = tf.transpose(tf.matmul(weights, v), [0, 2, 1])
    mean, variance = tf.nn.moments(y, [1], keepdims=True)
    y = (y - mean) * tf.math.rsqrt(variance + 1e-3)
    TRAIN.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.concat([y, y * y], 1)[:, 1:5, ::2]))


def branches(f: Fed) -> None:
    """Conditions inside conditions, taken and not."""
    x = f.real(3)
    for a in [True, False]:
        for b in [True, False]:
            p, q = f(a, np.bool_), f(b, np.bool_)
            V1.cond(p, lambda q=q: V1.cond(q, lambda: x + 1.0, lambda: x * 2.0), lambda: x - 3.0)
    small = V1.cond(f(False, np.bool_), lambda: (x, x * x), lambda: (-x, tf.zeros([3])))
    tf.gradients(small[0] + small[1], x)
    tf.identity(small[0].op.outputs[1])  # which branch was taken


def loops(f: Fed) -> None:
    """While loops: a sum, a loop in a loop, an array that is written."""
    n = f(5, np.int32)
    w = variable("w", 3, 3)
    V1.while_loop(
        lambda i, x: i < n, lambda i, x: (i + 1, tf.tanh(tf.matmul(x, w))), [0, f.real(2, 3)]
    )

    def inner(i: Any, total: Any) -> Any:
        more = V1.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), [0, total])
        return i + 1, more[1]

    V1.while_loop(lambda i, total: total < 20, inner, [0, 0])
    V1.while_loop(lambda i: i < 0, lambda i: i + 1, [n])


def recurrent(f: Fed) -> None:
    """Run a recurrent net over an array of steps."""
    steps = f.real(4, 2, 3)
    w = variable("w", 3, 3)
    given = tf.TensorArray(tf.float32, 4, element_shape=[2, 3]).unstack(steps)
    taken = tf.TensorArray(tf.float32, 4, element_shape=[2, 3])

    def body(i: Any, h: Any, out: Any) -> Any:
        h = tf.tanh(given.read(i) + tf.matmul(h, w))
        return i + 1, h, out.write(i, h)

    _, _, out = V1.while_loop(lambda i, *_: i < 4, body, [0, tf.zeros([2, 3]), taken])
    size = tf.raw_ops.TensorArraySizeV3(handle=out.handle, flow_in=out.flow)
    tf.reduce_sum(out.stack()) * tf.cast(size, tf.float32)


def lists(f: Fed) -> None:
    """Make lists of tensors, write into them, take them apart."""
    raw = tf.raw_ops
    shape, steps = tf.constant([2]), f.real(4, 2)
    given = raw.TensorListFromTensor(tensor=steps, element_shape=shape)
    second = raw.TensorListGetItem(
        input_handle=given, index=1, element_shape=shape, element_dtype=tf.float32
    )
    some = raw.TensorListGather(
        input_handle=given, indices=[3, 0], element_shape=shape, element_dtype=tf.float32
    )
    made = raw.TensorListReserve(element_shape=shape, num_elements=2, element_dtype=tf.float32)
    for i in range(2):
        made = raw.TensorListSetItem(input_handle=made, index=i, item=second * (i + 2.0))
    raw.TensorListStack(input_handle=made, element_shape=shape, element_dtype=tf.float32)
    pushed = raw.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=tf.float32)
    for i in range(2):
        pushed = raw.TensorListPushBack(input_handle=pushed, tensor=some[i])
    left, last = raw.TensorListPopBack(
        input_handle=pushed, element_shape=shape, element_dtype=tf.float32
    )
    count = raw.TensorListLength(input_handle=left)
    last * tf.cast(count, tf.float32)


def functional(f: Fed) -> None:
    """Branches and loops with functions, as TensorFlow 2 writes them."""
    x, n = f.real(3), f(4, np.int32)
    vector, number = tf.TensorSpec([3], tf.float32), tf.TensorSpec([], tf.int32)

    def function(body: Any, *types: Any) -> Any:
        return tf.function(body, autograph=False).get_concrete_function(*types)

    twice = function(lambda x: x * 2.0, vector)
    ones = function(lambda x: tf.ones([3]), vector)
    for holds in [True, False]:
        condition = f(holds, np.bool_)
        tf.raw_ops.StatelessIf(
            cond=condition, input=[x], Tout=[tf.float32], then_branch=twice, else_branch=ones
        )
    goes_on = function(lambda i, n, x: i < n, number, number, vector)
    body = function(lambda i, n, x: (i + 1, n, tf.tanh(x) + 0.5), number, number, vector)
    tf.raw_ops.StatelessWhile(input=[0, n, x], cond=goes_on, body=body)


NETS = {
    "optimizers": optimizers(False),
    "resource_optimizers": optimizers(True),
    "keras_momentum": keras_momentum,
    "state": state,
    "embedding": embedding,
    "perceptron": perceptron,
    "convolutional": convolutional,
    "attention": attention,
    "branches": branches,
    "loops": loops,
    "recurrent": recurrent,
    "lists": lists,
    "functional": functional,
}
