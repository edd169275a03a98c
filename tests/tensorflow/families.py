"""Every operation with a definition, called as TensorFlow's own raw operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

RAW = tf.raw_ops
DRAW = np.random.default_rng(7)


class Fed:
    """Values that are fed: placeholders in the graph, so that nothing is folded."""

    def __init__(self) -> None:
        """Begin without any."""
        self.feeds: dict[str, Any] = {}

    def __call__(self, value: Any, dtype: Any = np.float32, known: bool = True) -> Any:
        """Return a placeholder for a value, of its shape or of no shape at all."""
        array = np.asarray(value, dtype)
        place = tf.compat.v1.placeholder(array.dtype, array.shape if known else None)
        self.feeds[place.op.name] = array
        return place

    def real(self, *shape: int, low: float = -2, high: float = 2, known: bool = True) -> Any:
        """Return a placeholder for random numbers."""
        return self(DRAW.uniform(low, high, shape), known=known)

    def whole(self, *shape: int, low: int = 0, high: int = 5, dtype: Any = np.int32) -> Any:
        """Return a placeholder for random whole numbers."""
        return self(DRAW.integers(low, high, shape), dtype)


def i32(value: Any) -> Any:
    """Return a constant, as axes and shapes mostly are."""
    return tf.constant(np.asarray(value, np.int32))


def unary(f: Fed) -> None:
    """Elementwise operations of one input."""
    x, unit, positive = f.real(3, 4), f.real(3, 4, low=-0.9, high=0.9), f.real(3, 4, low=0.1)
    for op in [
        "Abs",
        "Asinh",
        "Atan",
        "Ceil",
        "Cos",
        "Cosh",
        "Erf",
        "Erfc",
        "Exp",
        "Expm1",
        "Floor",
        "Inv",
        "Neg",
        "Reciprocal",
        "Rint",
    ]:
        getattr(RAW, op)(x=x)
    for op in ["Sign", "Sin", "Sinh", "Square", "Tan", "Round"]:
        getattr(RAW, op)(x=x)
    for op in ["Acos", "Asin", "Atanh"]:
        getattr(RAW, op)(x=unit)
    for op in ["Log", "Log1p", "Sqrt", "Rsqrt"]:
        getattr(RAW, op)(x=positive)
    RAW.Acosh(x=positive + 1)
    # Round of whole numbers is left out: TensorFlow's kernel gives zeros for all of them.
    for to in [tf.float64, tf.int32, tf.bool, tf.float16]:
        RAW.Cast(x=x, DstT=to)
    RAW.Cast(x=f.whole(4), DstT=tf.float32)


def activation(f: Fed) -> None:
    """Activations, and what passes a value on."""
    x = f.real(3, 4)
    for op in ["Elu", "LeakyRelu", "Relu", "Relu6", "Selu", "Softplus", "Softsign"]:
        getattr(RAW, op)(features=x * 4.0)
    for op in ["Softmax", "LogSoftmax"]:
        getattr(RAW, op)(logits=x)
    for op in ["Sigmoid", "Tanh", "DeepCopy"]:
        getattr(RAW, op)(x=x)
    for op in ["Identity", "PreventGradient", "Snapshot", "StopGradient"]:
        getattr(RAW, op)(input=x)
    RAW.Print(input=x, data=[], summarize=0)
    RAW.CheckNumerics(tensor=x, message="x")
    RAW.EnsureShape(input=x, shape=[3, 4])
    RAW.IdentityN(input=[x, f.whole(2)])
    RAW.LeakyRelu(features=x, alpha=0.01)


def gradients(f: Fed) -> None:
    """Gradients of elementwise operations."""
    x, y, dy = f.real(3, 4), f.real(3, 4, low=0.1, high=0.9), f.real(3, 4)
    for op in ["Relu", "Relu6", "LeakyRelu", "Softplus", "Softsign"]:
        getattr(RAW, op + "Grad")(gradients=dy, features=x)
    for op in ["Elu", "Selu"]:
        getattr(RAW, op + "Grad")(gradients=dy, outputs=x)
    for op in ["Sigmoid", "Tanh", "Sqrt", "Rsqrt", "Reciprocal", "Inv"]:
        getattr(RAW, op + "Grad")(y=y, dy=dy)


def arithmetic(f: Fed) -> None:
    """Operations on pairs."""
    x, y = f.real(3, 4), f.real(4, low=0.2)
    for op in [
        "Add",
        "AddV2",
        "Sub",
        "Mul",
        "Div",
        "RealDiv",
        "Maximum",
        "Minimum",
        "SquaredDifference",
    ]:
        getattr(RAW, op)(x=x, y=y)
    for op in ["FloorDiv", "FloorMod", "Mod", "TruncateMod"]:
        getattr(RAW, op)(x=x, y=f([0.7, -0.7, 1.5, -1.5]))
    i, j = f([[7, -7, 6, -6]], np.int32), f([[3], [-3]], np.int32)
    for op in ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div"]:
        getattr(RAW, op)(x=i, y=j)
    RAW.Pow(x=f.real(3, low=0.1), y=f.real(3))
    zero = f([[0, 1], [2, 0]])
    for op in ["DivNoNan", "MulNoNan"]:
        getattr(RAW, op)(x=f.real(2, 2), y=zero)
    for op in ["Xdivy", "Xlogy"]:
        getattr(RAW, op)(x=zero, y=f.real(2, 2, low=0.1))
    RAW.AddN(inputs=[x, x, x])
    RAW.AddN(inputs=[i, i])
    RAW.AccumulateNV2(inputs=[x, x], shape=[3, 4])
    RAW.ClipByValue(t=x, clip_value_min=tf.constant(-0.5), clip_value_max=tf.constant(0.5))


def logic(f: Fed) -> None:
    """Comparisons, truth and bits."""
    x, y = f.whole(3, 4), f.whole(4)
    for op in ["Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"]:
        getattr(RAW, op)(x=x, y=y)
    for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
        getattr(RAW, op)(x=x, y=y)
    RAW.Invert(x=x)
    p, q = RAW.Greater(x=x, y=i32(2)), RAW.Less(x=x, y=i32(4))
    RAW.LogicalAnd(x=p, y=q)
    RAW.LogicalOr(x=p, y=q)
    RAW.LogicalNot(x=p)
    strange = f([1, np.inf, -np.inf, np.nan])
    for op in ["IsInf", "IsNan", "IsFinite"]:
        getattr(RAW, op)(x=strange)
    RAW.ApproximateEqual(x=f([1, 2]), y=f([1.000001, 2.1]))


def reduce(f: Fed) -> None:
    """Reductions."""
    x = f.real(2, 3, 4)
    for op in ["Sum", "Prod", "Max", "Min", "Mean", "EuclideanNorm"]:
        for axis, keep in [([0, 2], False), ([-1], True), (1, False), ([], False)]:
            getattr(RAW, op)(input=x, axis=i32(axis), keep_dims=keep)
    RAW.Sum(input=f.whole(2, 3), axis=i32(0))
    RAW.Sum(input=x, axis=f([1], np.int32))
    truth = RAW.Greater(x=x, y=tf.constant(0.0))
    for op in ["All", "Any"]:
        getattr(RAW, op)(input=truth, axis=i32([1]))
    for op in ["ArgMax", "ArgMin"]:
        getattr(RAW, op)(input=x, dimension=i32(1))
        getattr(RAW, op)(input=x, dimension=i32(-1), output_type=tf.int32)
    RAW.Cumsum(x=x, axis=i32(1))
    RAW.Cumsum(x=x, axis=i32(-1), exclusive=True, reverse=True)
    RAW.L2Loss(t=x)


def shape(f: Fed) -> None:
    """Shapes as values."""
    x = f.real(2, 3, 4, known=False)
    RAW.Shape(input=x)
    RAW.Shape(input=x, out_type=tf.int64)
    RAW.ShapeN(input=[x, f.real(5, 1)])
    RAW.Size(input=x)
    RAW.Rank(input=x)
    RAW.Range(start=f(1, np.int32), limit=i32(9), delta=i32(3))
    RAW.Range(start=tf.constant(0.5), limit=f(3.0), delta=tf.constant(0.5))
    RAW.InvertPermutation(x=f([2, 0, 3, 1], np.int32))
    for a, b in [([2, 1, 4], [3, 4]), ([1, 1], [1]), ([5], [5]), ([], [2, 3]), ([2, 3], [1, 3])]:
        RAW.BroadcastGradientArgs(s0=f(a, np.int32), s1=f(b, np.int32))
        RAW.BroadcastArgs(s0=f(a, np.int32), s1=f(b, np.int32))
    sizes = [f([2, 3, 4], np.int32), f([2, 5, 4], np.int32), f([2, 1, 4], np.int32)]
    RAW.ConcatOffset(concat_dim=i32(1), shape=sizes)
    RAW.ConcatOffset(concat_dim=f(1, np.int32), shape=sizes)


def fill(f: Fed) -> None:
    """Tensors that are made."""
    x = f.real(2, 3)
    RAW.Fill(dims=f([2, 3], np.int32), value=f(1.5))
    RAW.ZerosLike(x=x)
    RAW.OnesLike(x=x)
    RAW.Tile(input=x, multiples=i32([2, 1]))
    RAW.BroadcastTo(input=x, shape=i32([4, 2, 3]))
    RAW.Pad(input=x, paddings=i32([[1, 0], [0, 2]]))
    RAW.PadV2(input=x, paddings=f([[1, 0], [0, 2]], np.int32), constant_values=tf.constant(9.0))
    RAW.MirrorPad(input=x, paddings=i32([[1, 0], [0, 2]]), mode="REFLECT")
    RAW.LinSpace(start=f(-1), stop=f(2), num=i32(7))


def layout(f: Fed) -> None:
    """Put the same elements in another arrangement."""
    x = f.real(2, 3, 4)
    RAW.Reshape(tensor=x, shape=i32([4, -1]))
    RAW.Reshape(tensor=x, shape=f([-1, 2], np.int32))
    RAW.Reshape(tensor=f.real(0, 3), shape=i32([0, 5]))
    RAW.Transpose(x=x, perm=i32([2, 0, 1]))
    RAW.Transpose(x=x, perm=RAW.InvertPermutation(x=i32([2, 0, 1])))
    RAW.ExpandDims(input=x, axis=i32(-1))
    RAW.ExpandDims(input=x, axis=f(1, np.int32))
    RAW.Squeeze(input=f.real(1, 3, 1))
    RAW.Squeeze(input=f.real(1, 3, 1), axis=[-1])
    RAW.ConcatV2(values=[x, f.real(2, 1, 4)], axis=i32(1))
    RAW.Concat(concat_dim=i32(-1), values=[x, f.real(2, 3, 2)])
    RAW.Pack(values=[x, x], axis=-1)
    RAW.Unpack(value=x, num=3, axis=1)
    RAW.Split(axis=i32(2), value=x, num_split=2)
    RAW.SplitV(value=x, size_splits=i32([1, -1]), axis=i32(1), num_split=2)
    RAW.ReverseV2(tensor=x, axis=i32([0, -1]))
    RAW.ReverseSequence(input=x, seq_lengths=f([2, 3], np.int64), seq_dim=1, batch_dim=0)
    RAW.ReverseSequence(input=x, seq_lengths=f([2, 1, 1], np.int32), seq_dim=0, batch_dim=1)
    RAW.DepthToSpace(input=f.real(1, 2, 3, 8), block_size=2)
    RAW.SpaceToDepth(input=f.real(1, 4, 6, 2), block_size=2)


def slices(f: Fed) -> None:
    """Slices with all masks, and their gradients."""
    x = f.real(4, 5, 6)
    RAW.Slice(input=x, begin=i32([1, 0, 2]), size=i32([2, -1, 3]))
    RAW.Slice(input=x, begin=f([1, 0, 2], np.int32), size=i32([2, -1, 3]))
    RAW.Slice(input=x, begin=f([2, 0, 5], np.int64), size=np.array([2, 5, 1], np.int64))
    for index in [
        np.s_[1:3, ::2, -1],
        np.s_[..., 1],
        np.s_[:, None, 2],
        np.s_[1, ..., None, ::-1],
        np.s_[::-2, 4:1:-1],
        np.s_[None, ..., 2:, 3],
        np.s_[-1],
    ]:
        y = x[index]
        op = y.op
        dy = f.real(*y.shape)
        RAW.StridedSliceGrad(
            shape=i32([4, 5, 6]),
            begin=op.inputs[1],
            end=op.inputs[2],
            strides=op.inputs[3],
            dy=dy,
            begin_mask=op.get_attr("begin_mask"),
            end_mask=op.get_attr("end_mask"),
            ellipsis_mask=op.get_attr("ellipsis_mask"),
            new_axis_mask=op.get_attr("new_axis_mask"),
            shrink_axis_mask=op.get_attr("shrink_axis_mask"),
        )
    at = f(2, np.int32)
    x[at, at:, : at - 1]


def gather(f: Fed) -> None:
    """Elements by index."""
    x = f.real(4, 5, 6)
    RAW.Gather(params=x, indices=f.whole(2, 3, high=4))
    RAW.GatherV2(params=x, indices=f.whole(2, 3, high=5), axis=i32(1))
    RAW.GatherV2(params=x, indices=f.whole(4, 2, high=5), axis=i32(1), batch_dims=1)
    RAW.GatherNd(params=x, indices=f.whole(3, 2, high=4))
    for axis in [-1, 0]:
        RAW.OneHot(
            indices=f([[0, 2], [-1, 9]], np.int32),
            depth=i32(4),
            on_value=tf.constant(5.0),
            off_value=tf.constant(-1.0),
            axis=axis,
        )
    RAW.Where(condition=RAW.Greater(x=x, y=tf.constant(0.5)))


def select(f: Fed) -> None:
    """One of several."""
    x, y = f.real(3, 4), f.real(3, 4)
    RAW.Select(condition=f([True, False, True], np.bool_), x=x, y=y)
    RAW.Select(condition=RAW.Greater(x=x, y=y), x=x, y=y)
    RAW.Select(condition=f(True, np.bool_), x=x, y=y)
    RAW.SelectV2(condition=f([True, False, True, True], np.bool_), t=x, e=y)
    RAW.TopKV2(input=x, k=i32(2))
    RAW.InTopK(predictions=x, targets=f.whole(3, high=4), k=2)
    RAW.InTopKV2(predictions=x, targets=f.whole(3, high=4), k=i32(1))
    RAW.Unique(x=f([4, 1, 4, 2, 1], np.int32))
    RAW.UniqueWithCounts(x=f([4, 1, 4, 2, 1], np.int32))
    RAW.DynamicPartition(data=x, partitions=f([1, 0, 1], np.int32), num_partitions=2)


def scatter(f: Fed) -> None:
    """Rows put where indices say."""
    rows = f.real(4, 3)
    parts = {
        "indices": [f([0, 2], np.int32), f([[1, 3], [4, 0]], np.int32)],
        "data": [f.real(2, 3), f.real(2, 2, 3)],
    }
    RAW.DynamicStitch(**parts)
    RAW.ParallelDynamicStitch(
        indices=[f([0, 2], np.int32), f([1], np.int32)], data=[f.real(2, 3), f.real(1, 3)]
    )
    for op in ["Sum", "Prod", "Max", "Min"]:
        getattr(RAW, "UnsortedSegment" + op)(
            data=rows, segment_ids=f([2, 0, -1, 2], np.int32), num_segments=i32(4)
        )
    RAW.SegmentSum(data=rows, segment_ids=f([0, 0, 1, 3], np.int32))
    RAW.ScatterNd(indices=f([[1], [3], [1]], np.int32), updates=f.real(3, 2), shape=i32([5, 2]))
    RAW.SparseToDense(
        sparse_indices=f([[0, 1], [2, 0]], np.int32),
        output_shape=i32([3, 2]),
        sparse_values=f([5, 6]),
        default_value=tf.constant(-1.0),
    )
    RAW.SparseToDense(
        sparse_indices=f([1, 3], np.int32),
        output_shape=i32([4]),
        sparse_values=f(7),
        default_value=tf.constant(0.0),
    )


def matrix(f: Fed) -> None:
    """Matrix products and biases."""
    for ta in [False, True]:
        for tb in [False, True]:
            a, b = f.real(*((3, 2) if ta else (2, 3))), f.real(*((4, 3) if tb else (3, 4)))
            RAW.MatMul(a=a, b=b, transpose_a=ta, transpose_b=tb)
            a, b = f.real(5, *a.shape), f.real(5, *b.shape)
            RAW.BatchMatMul(x=a, y=b, adj_x=ta, adj_y=tb)
            RAW.BatchMatMulV2(x=a, y=b, adj_x=ta, adj_y=tb)
    RAW.Einsum(inputs=[f.real(2, 3), f.real(4, 3)], equation="ij,kj->ki")
    x = f.real(2, 3, 4, 5)
    RAW.BiasAdd(value=x, bias=f.real(5))
    RAW.BiasAdd(value=x, bias=f.real(3), data_format="NCHW")
    RAW.BiasAddV1(value=x, bias=f.real(5))
    RAW.BiasAddGrad(out_backprop=x)
    RAW.BiasAddGrad(out_backprop=x, data_format="NCHW")


def conv(f: Fed) -> None:
    """Convolutions with all their gradients."""
    for h, k, s, d, pad in [
        (7, 3, 1, 1, "SAME"),
        (8, 3, 2, 1, "SAME"),
        (7, 2, 3, 1, "VALID"),
        (9, 3, 1, 2, "SAME"),
        (9, 3, 1, 2, "VALID"),
        (8, 4, 2, 1, "EXPLICIT"),
    ]:
        more = {"strides": [1, s, s, 1], "dilations": [1, d, d, 1], "padding": pad}
        if pad == "EXPLICIT":
            more["explicit_paddings"] = [0, 0, 1, 2, 0, 1, 0, 0]
        x, w = f.real(2, h, h + 1, 3), f.real(k, k, 3, 4)
        y = RAW.Conv2D(input=x, filter=w, **more)
        dy = f.real(*y.shape)
        if d == 1:
            RAW.Conv2DBackpropInput(input_sizes=i32(x.shape), filter=w, out_backprop=dy, **more)
            RAW.Conv2DBackpropFilter(input=x, filter_sizes=i32(w.shape), out_backprop=dy, **more)
        if pad == "EXPLICIT" or d > 1:  # which no kernel for a processor has
            continue
        w = f.real(k, k, 3, 2)
        y = RAW.DepthwiseConv2dNative(input=x, filter=w, **more)
        dy = f.real(*y.shape)
        RAW.DepthwiseConv2dNativeBackpropInput(
            input_sizes=i32(x.shape), filter=w, out_backprop=dy, **more
        )
        RAW.DepthwiseConv2dNativeBackpropFilter(
            input=x, filter_sizes=i32(w.shape), out_backprop=dy, **more
        )
    x, w = f.real(1, 4, 5, 6, 2), f.real(2, 3, 2, 2, 3)
    more = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
    dy = f.real(*RAW.Conv3D(input=x, filter=w, **more).shape)
    RAW.Conv3DBackpropInputV2(input_sizes=i32(x.shape), filter=w, out_backprop=dy, **more)
    RAW.Conv3DBackpropFilterV2(input=x, filter_sizes=i32(w.shape), out_backprop=dy, **more)


def pool(f: Fed) -> None:
    """Pools with their gradients."""
    for h, k, s, pad in [(6, 2, 2, "VALID"), (7, 3, 2, "SAME"), (7, 2, 3, "VALID")]:
        x = f.real(2, h, h + 1, 3)
        more = {"ksize": [1, k, k, 1], "strides": [1, s, s, 1], "padding": pad}
        y = RAW.MaxPool(input=x, **more)
        RAW.MaxPoolGrad(orig_input=x, orig_output=y, grad=f.real(*y.shape), **more)
        y = RAW.AvgPool(value=x, **more)
        RAW.AvgPoolGrad(orig_input_shape=i32(x.shape), grad=f.real(*y.shape), **more)
    more = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
    RAW.MaxPool3D(input=f.real(1, 4, 5, 6, 2), **more)
    RAW.AvgPool3D(input=f.real(1, 4, 5, 6, 2), **more)


def norm(f: Fed) -> None:
    """Normalisations with their gradients."""
    x, dy = f.real(2, 3, 4, 5), f.real(2, 3, 4, 5)
    scale, offset, mean = f.real(5), f.real(5), f.real(5)
    variance = f.real(5, low=0.3)
    for version in ["", "V2", "V3"]:
        for training in [True, False]:
            given = {"x": x, "scale": scale, "epsilon": 0.01, "is_training": training}
            getattr(RAW, "FusedBatchNorm" + version)(
                offset=offset,
                mean=tf.zeros([0]) if training else mean,
                variance=tf.zeros([0]) if training else variance,
                **given,
            )
            spaces = {"reserve_space_1": mean, "reserve_space_2": variance}
            if version == "V3":
                spaces["reserve_space_3"] = tf.zeros([0])
            getattr(RAW, "FusedBatchNormGrad" + version)(y_backprop=dy, **given, **spaces)
    RAW.LRN(input=x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.7)


def loss(f: Fed) -> None:
    """Losses over classes."""
    x = f.real(3, 4)
    RAW.SoftmaxCrossEntropyWithLogits(features=x, labels=f.real(3, 4, low=0, high=1))
    RAW.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=f.whole(3, high=4))


def image(f: Fed) -> None:
    """Images of another size."""
    x = f.real(1, 4, 5, 2)
    for size in [[7, 9], [2, 3]]:
        for corners, half in [(False, False), (True, False), (False, True)]:
            more = {"size": i32(size), "align_corners": corners, "half_pixel_centers": half}
            RAW.ResizeBilinear(images=x, **more)
            RAW.ResizeNearestNeighbor(images=x, **more)


def random(f: Fed) -> None:
    """Random numbers: their types and shapes are compared, and their ranges."""
    size = f([20, 30], np.int32)
    for op in ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]:
        getattr(RAW, op)(shape=size, dtype=tf.float32)
    RAW.RandomUniformInt(shape=size, minval=i32(3), maxval=i32(9))
    key, counter = RAW.StatelessRandomGetKeyCounter(seed=f([1, 2], np.int32))
    for op in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
        getattr(RAW, op)(shape=size, seed=i32([3, 4]), dtype=tf.float32)
        getattr(RAW, op + "V2")(shape=size, key=key, counter=counter, alg=i32(1), dtype=tf.float32)
    RAW.StatelessRandomUniformInt(shape=size, seed=i32([3, 4]), minval=i32(3), maxval=i32(9))
    RAW.StatelessRandomUniformIntV2(
        shape=size, key=key, counter=counter, alg=i32(1), minval=i32(3), maxval=i32(9)
    )
    RAW.RandomShuffle(value=f.real(5, 2))
    RAW.Multinomial(logits=f.real(3, 4), num_samples=i32(50))


FAMILIES = [
    unary,
    activation,
    gradients,
    arithmetic,
    logic,
    reduce,
    shape,
    fill,
    layout,
    slices,
    gather,
    select,
    scatter,
    matrix,
    conv,
    pool,
    norm,
    loss,
    image,
    random,
]
