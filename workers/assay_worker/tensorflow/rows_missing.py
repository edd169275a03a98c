"""TensorFlow: what it has no call for, nor calls that its users put together for it."""

_NO_SEQUENCES = "tensorflow has no sequences"

MISSING = {
    "AffineGrid": "tensorflow has no affine grids",
    "BlackmanWindow": "tf.signal has no Blackman window",
    "Col2Im": "tensorflow folds no patches",
    "ConcatFromSequence": _NO_SEQUENCES,
    "DeformConv": "tensorflow has no deformable convolution",
    "GridSample": "tensorflow samples no grids",
    "HammingWindow": "tf.signal has a Hamming window of other coefficients",
    "MaxRoiPool": "tensorflow pools no regions",
    "MelWeightMatrix": "tf.signal defines its mel weights otherwise",
    "Optional": "tensorflow has no optional values",
    "OptionalGetElement": "tensorflow has no optional values",
    "OptionalHasElement": "tensorflow has no optional values",
    "RoiAlign": "tensorflow aligns no regions",
    "SequenceAt": _NO_SEQUENCES,
    "SequenceConstruct": _NO_SEQUENCES,
    "SequenceEmpty": _NO_SEQUENCES,
    "SequenceErase": _NO_SEQUENCES,
    "SequenceInsert": _NO_SEQUENCES,
    "SequenceLength": _NO_SEQUENCES,
    "SequenceMap": _NO_SEQUENCES,
    "SplitToSequence": _NO_SEQUENCES,
    "TfIdfVectorizer": "tensorflow counts no n-grams",
}
