"""MXNet: images, regions and boxes."""

import mxnet as mx

from ..table import composed, unsupported
from .parts import cast, ints, number, numbers, window_pads


def AffineGrid(node, theta, size):
    if not node.get("align_corners", 0):
        unsupported("pixels as areas")
    size = ints(size)
    if len(size) != 4:
        unsupported("grids of rank %d" % (len(size) - 2))
    flat = theta.reshape((theta.shape[0], 6))
    grid = mx.nd.GridGenerator(flat, transform_type="affine", target_shape=tuple(size[2:]))
    return mx.nd.transpose(grid, axes=(0, 2, 3, 1))


def Col2Im(node, x, shape, block):
    if not hasattr(mx.nd, "col2im"):
        unsupported("col2im")
    shape, block = ints(shape), ints(block)
    rank = len(block)
    pads = node.get("pads", [0] * (2 * rank))
    if pads[:rank] != pads[rank:] or rank > 3:
        unsupported("pads that differ, or rank %d" % rank)
    return mx.nd.col2im(
        x, output_size=tuple(shape), kernel=tuple(block), pad=tuple(pads[:rank]),
        stride=tuple(node.get("strides", [1] * rank)),
        dilate=tuple(node.get("dilations", [1] * rank)),
    )  # fmt: skip


def DeformConv(node, x, w, offset, b=None, mask=None):
    kernel = w.shape[2:]
    if len(kernel) != 2:
        unsupported("deformable convolution of rank %d" % len(kernel))
    strides, dilations = node.get("strides", [1, 1]), node.get("dilations", [1, 1])
    begin, end = window_pads(node, x.shape[2:], kernel, strides, dilations)
    if begin != end:
        unsupported("pads that differ")
    options = {
        "kernel": kernel, "stride": tuple(strides), "dilate": tuple(dilations),
        "pad": tuple(begin), "num_filter": w.shape[0], "num_group": node.get("group", 1),
        "num_deformable_group": node.get("offset_group", 1), "no_bias": b is None,
    }  # fmt: skip
    bias = [] if b is None else [b]
    if mask is None:
        return mx.nd.contrib.DeformableConvolution(x, offset, w, *bias, **options)
    modulated = getattr(mx.nd.contrib, "ModulatedDeformableConvolution", None)
    if modulated is None:
        unsupported("a mask")
    return modulated(x, offset, mask, w, *bias, **options)


def GridSample(node, x, grid):
    mode = node.get("mode", "linear")
    if mode not in ("linear", "bilinear") or node.get("padding_mode", "zeros") != "zeros":
        unsupported("mode %s with %s" % (mode, node.get("padding_mode", "zeros")))
    if not node.get("align_corners", 0):
        unsupported("pixels as areas")
    if len(x.shape) != 4:
        unsupported("samples of rank %d" % (len(x.shape) - 2))
    return mx.nd.BilinearSampler(x, mx.nd.transpose(grid, axes=(0, 3, 1, 2)))


_READABLE = ((255, 216), (137, 80), (66, 77), (73, 73), (77, 77))  # jpeg, png, bmp and tiff


def ImageDecoder(node, data):
    if tuple(ints(data[:2])) not in _READABLE:
        unsupported("this format of images")
    form = node.get("pixel_format", "RGB")
    flag, turn = (0, False) if form == "Grayscale" else (1, form == "RGB")
    return mx.nd._internal._cvimdecode(data, flag=flag, to_rgb=turn)


def MaxRoiPool(node, x, rois):
    return mx.nd.ROIPooling(
        x, rois, pooled_size=tuple(node["pooled_shape"]),
        spatial_scale=node.get("spatial_scale", 1.0),
    )  # fmt: skip


@composed
def NonMaxSuppression(node, boxes, scores, limit=None, overlap=None, least=None):
    limit = 0 if limit is None else int(number(limit))
    overlap = 0.0 if overlap is None else number(overlap)
    least = None if least is None else number(least)
    if node.get("center_point_box", 0):
        form = "center"
    else:  # mxnet wants the lower corner first
        form = "corner"
        one, other = mx.nd.split(boxes, 2, axis=2)
        boxes = mx.nd.concat(mx.nd.minimum(one, other), mx.nd.maximum(one, other), dim=2)
    batches, classes, count = scores.shape
    found = []
    places = mx.nd.arange(count).reshape((count, 1))
    for batch in range(batches):
        for label in range(classes):
            score = scores[batch][label].reshape((count, 1))
            rows = mx.nd.concat(places, score, boxes[batch], dim=1)
            more = {} if least is None else {"valid_thresh": least}
            kept = mx.nd.contrib.box_nms(
                rows, overlap_thresh=overlap, coord_start=2, score_index=1, in_format=form, **more
            )
            chosen = [int(n) for n in numbers(kept[:, 0]) if n >= 0][:limit]
            found += [[batch, label, place] for place in chosen]
    if not found:
        return mx.nd.zeros((0, 3), dtype="int64")
    return mx.nd.array(found, dtype="int64")


def Resize(node, x, roi=None, scales=None, sizes=None):
    if node.opset < 11:
        roi, scales = None, roi
    if len(x.shape) != 4:
        unsupported("resizing of rank %d" % len(x.shape))
    if node.get("antialias", 0) or node.get("axes") or node.get("keep_aspect_ratio_policy"):
        unsupported("antialias, axes and policies")
    factors = [] if scales is None else numbers(scales)
    target = None if sizes is None else ints(sizes)
    if target is None:
        target = [int(n * f) for n, f in zip(x.shape, factors)]
        if any(n * f != t for n, f, t in zip(x.shape, factors, target)):
            unsupported("scales that give no whole size")
    where = node.get("coordinate_transformation_mode", "half_pixel")
    if node.opset < 11:
        where = "asymmetric"
    return _resized(x, target, node.get("mode", "nearest"), where, node)


def _resized(x, target, mode, where, node):
    if tuple(target[:2]) != x.shape[:2]:
        unsupported("resizing of the first axes")
    if mode == "nearest":
        scale = target[2] // x.shape[2]
        if scale < 1 or target[2] != scale * x.shape[2] or target[3] != scale * x.shape[3]:
            unsupported("nearest but for one whole factor")
        rounding = node.get("nearest_mode", "round_prefer_floor")
        plain = node.op == "Upsample" or node.opset < 11
        repeats = where == "half_pixel" and rounding.startswith("round")
        if not (plain or repeats or (where == "asymmetric" and rounding == "floor")):
            unsupported("%s with %s" % (where, rounding))
        return mx.nd.UpSampling(x, scale=scale, sample_type="nearest", num_args=1)
    if mode == "linear" and where in ("align_corners", "half_pixel"):
        more = {"align_corners": False} if where == "half_pixel" else {}
        resize = mx.nd.contrib.BilinearResize2D
        if more and "align_corners" not in (resize.__doc__ or ""):
            unsupported("half_pixel")
        return resize(x, height=target[2], width=target[3], **more)
    return unsupported("%s with %s" % (mode, where))


def RoiAlign(node, x, rois, batches):
    if node.get("mode", "avg") != "avg":
        unsupported("mode %s" % node["mode"])
    aligned = node.opset >= 16 and (
        node.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    )
    more = {"aligned": True} if aligned else {}
    if aligned and "aligned" not in (mx.nd.contrib.ROIAlign.__doc__ or ""):
        unsupported("half_pixel")
    index = cast(batches, "float32").reshape((-1, 1))
    ratio = node.get("sampling_ratio", 0)
    return mx.nd.contrib.ROIAlign(
        x, mx.nd.concat(index, rois, dim=1),
        pooled_size=(node.get("output_height", 1), node.get("output_width", 1)),
        spatial_scale=node.get("spatial_scale", 1.0), sample_ratio=ratio if ratio else -1, **more
    )  # fmt: skip


def Upsample(node, x, scales=None):
    factors = node["scales"] if node.opset < 9 else numbers(scales)
    if len(x.shape) != 4:
        unsupported("resizing of rank %d" % len(x.shape))
    target = [int(n * f) for n, f in zip(x.shape, factors)]
    return _resized(x, target, node.get("mode", "nearest"), "asymmetric", node)


MISSING = {
    "CenterCropPad": "mxnet crops to the center and pads in no single call",
}
