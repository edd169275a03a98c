"""What runtimes that take a whole ONNX file share: names of operators, and added outputs."""

from .arrays import Array, from_numpy
from .onnx_messages import GraphProto, ModelProto, ValueInfoProto
from .wire import TEXT, Message, decode, encode

# The operators of the default domain and, below, of ai.onnx.ml.
DEFAULT_NAMES = """
Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool
BatchNormalization Bernoulli BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
BlackmanWindow Cast CastLike CausalConvWithState Ceil Celu CenterCropPad Clip Col2Im Compress Concat
ConcatFromSequence Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumProd CumSum
DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal
Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool
GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HammingWindow
HannWindow HardSigmoid HardSwish Hardmax Identity If ImageDecoder InstanceNormalization IsInf IsNaN
LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual LinearAttention Log LogSoftmax Loop
LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean
MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul Multinomial Neg NegativeLogLikelihoodLoss
NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement OptionalHasElement Or PRelu Pad Pow
QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal RandomNormalLike
RandomUniform RandomUniformLike Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu Reshape
Resize ReverseSequence RoiAlign RotaryEmbedding Round STFT Scan Scatter ScatterElements ScatterND
Selu SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength
SequenceMap Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss Softplus
Softsign SpaceToDepth Split SplitToSequence Sqrt Squeeze StringConcat StringNormalizer StringSplit
Sub Sum SwiGLU Swish Tan Tanh TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose
Trilu Unique Unsqueeze Upsample Where Xor
""".split()
ML_NAMES = """
ArrayFeatureExtractor Binarizer CastMap CategoryMapper DictVectorizer FeatureVectorizer Imputer
LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder SVMClassifier SVMRegressor
Scaler TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor ZipMap
""".split()
ALL_NAMES = DEFAULT_NAMES + ["ai.onnx.ml." + name for name in ML_NAMES]


class _Node(Message):
    """A node's outputs only: the rest of a file is passed over."""

    FIELDS = {2: ("output", TEXT, True)}


class _Graph(Message):
    """The names in a graph."""

    FIELDS = {1: ("node", _Node, True), 12: ("output", ValueInfoProto, True)}


class _Model(Message):
    """A file's graph."""

    FIELDS = {7: ("graph", _Graph, False)}


def node_outputs(data):
    """Return the names of all that the nodes of a file's main graph compute, in order."""
    graph = decode(_Model, data).graph
    return [] if graph is None else [n for node in graph.node for n in node.output if n]


def graph_outputs(data):
    """Return the names of a file's outputs."""
    graph = decode(_Model, data).graph
    return [] if graph is None else [one.name for one in graph.output]


def with_outputs(data, names):
    """Return a file that has more outputs: a message after another is merged into it."""
    old = set(graph_outputs(data))
    added = [ValueInfoProto(name=name) for name in names if name not in old]
    return bytes(data) + encode(ModelProto(graph=GraphProto(output=added)))


def split(missing, present):
    """Return what `Framework.operators` does, given a reason and the names that are there."""
    return sorted(present), {name: missing for name in ALL_NAMES if name not in present}


def to_python(value):
    """Return an Array, list, pair or None with numpy's arrays and dictionaries in their place."""
    if isinstance(value, Array):
        return value.numpy()
    if isinstance(value, list):
        return [to_python(one) for one in value]
    if isinstance(value, tuple):
        keys, values = (to_python(one).tolist() for one in value)
        return dict(zip(keys, values))
    return value


def from_python(value):
    """Return numpy's arrays, lists, dictionaries and None as Arrays, lists, pairs and None."""
    if isinstance(value, dict):
        return from_numpy(list(value)), from_numpy(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [from_python(one) for one in value]
    return value if value is None else from_numpy(value)
