"""OpenVINO on the CPU, in 32-bit floating point."""

import os

import numpy as np

from ..arrays import STRING, TYPE_NAMES, Array, from_numpy
from ..failure import Failed, Unsupported
from ..framework import Framework, Loaded, limit_threads
from ..onnx_messages import (
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    ValueInfoProto,
)
from ..whole import graph_inputs, graph_outputs, node_outputs, script
from ..wire import encode

# OpenVINO's name of a type by ONNX's number.
_TYPES = {
    1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "boolean", 10: "f16",
    11: "f64", 12: "u32", 13: "u64", 16: "bf16", 17: "f8e4m3", 19: "f8e5m2", 21: "u4", 22: "i4",
    23: "f4e2m1", 24: "f8e8m0", 25: "u2",
}  # fmt: skip
_NUMPY = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13}
_NO_RULE = "No conversion rule found for operations:"
_REFUSALS = (
    _NO_RULE,
    "OpConversionFailure",
    "does not support the following ONNX operations",
    "Unsupported data type",
    "doesn't support",
    "Unsupported operation of type",
    "unsupported src_prc",
)


class OpenVino(Framework):
    """Models read by the ONNX frontend and compiled for the CPU."""

    name = "openvino"

    def start(self, threads, seed):
        """Import; results are to be compared, so nothing is computed in fewer bits."""
        limit_threads(threads)
        import openvino

        self.root = openvino
        self.core = openvino.Core()
        self.settings = {"INFERENCE_PRECISION_HINT": "f32"}
        if threads > 0:
            self.settings["INFERENCE_NUM_THREADS"] = threads

    def version(self):
        """Return the release's number, without the build's."""
        return self.root.__version__.split("-")[0]

    def operators(self, names):
        """Ask for a model of each operator: what has no rule is refused for that."""
        standard = [name for name in names if not name.startswith("keras.")]
        present = [name for name in standard if self._has_rule(name)]
        return present, {"*": "openvino has no conversion rule"}

    def _has_rule(self, name):
        """Try a node that may lack inputs and attributes; other refusals do not count."""
        domain, _, op = name.rpartition(".")
        graph = GraphProto(
            name=op,
            node=[NodeProto(input=["x"] * 3, output=["y"], op_type=op, domain=domain)],
            input=[ValueInfoProto(name="x")],
            output=[ValueInfoProto(name="y")],
        )
        opsets = [OperatorSetIdProto(domain=d, version=v) for d, v in (("", 21), ("ai.onnx.ml", 4))]
        try:
            self.core.read_model(
                encode(ModelProto(ir_version=10, graph=graph, opset_import=opsets))
            )
        except Exception as failure:
            return _NO_RULE not in str(failure)
        return True

    def load(self, data, folder):
        """Read and compile at once, so that a model is refused here."""
        return LoadedModel(self, data, folder)

    def read(self, data, folder):
        """Return OpenVINO's graph of a file; the file's parts are looked for where we are."""
        before = os.getcwd()
        if folder:
            os.chdir(folder)
        try:
            return self.core.read_model(bytes(data))
        except Exception as failure:
            raise _refusal(failure)
        finally:
            os.chdir(before)

    def compile(self, model):
        """Compile for the CPU."""
        try:
            return self.core.compile_model(model, "CPU", self.settings)
        except Exception as failure:
            raise _refusal(failure)


class LoadedModel(Loaded):
    """A compiled model, and another one that shows every node's value once somebody asks."""

    def __init__(self, framework, data, folder):
        """Load the file."""
        self.framework, self.data, self.folder = framework, data, folder
        self.inputs, self.outputs = graph_inputs(data), graph_outputs(data)
        model = framework.read(data, folder)
        if len(model.outputs) != len(self.outputs):
            raise Failed("the graph has %d outputs" % len(model.outputs))
        self.plain, self.watched = framework.compile(model), None
        self.asked, self.inner = None, []  # for, and what of it there is
        self.requests = {}

    def script(self, inputs, variables):
        """Compile for the CPU."""
        lines = [
            "read = openvino.Core().read_model(model)",
            'compiled = openvino.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})',
            "found = list(compiled(list(feed.values())).values())",
        ]
        return script(["import openvino"], lines)

    def run(self, inputs, outputs, hidden):
        """Run one of the compiled models."""
        wanted = list(outputs) or self.outputs
        if not hidden:
            values = self._run(self.plain, self.outputs, inputs)
            return {name: values[name] for name in wanted}, {}
        asked = [name for name in node_outputs(self.data) if hidden.wants(name)]
        if self.asked != asked:
            self._watch(asked)
        values = self._run(self.watched, self.outputs + self.inner, inputs)
        seen = {name: values[name] for name in asked if name in values}
        return {name: values[name] for name in wanted}, seen

    def _watch(self, asked):
        """Compile with what is left of the nodes' outputs: the frontend folds some away."""
        self.requests.pop(id(self.watched), None)
        self.asked, self.inner = asked, []
        model = self.framework.read(self.data, self.folder)
        for name in asked:
            if name in self.outputs:
                continue
            try:
                model.add_outputs([name])
            except RuntimeError:
                continue
            self.inner.append(name)
        self.watched = self.framework.compile(model)

    def _run(self, compiled, names, inputs):
        if id(compiled) not in self.requests:  # making one costs more than a small model
            self.requests[id(compiled)] = compiled.create_infer_request()
        request = self.requests[id(compiled)]
        given = {name: _tensor(self.framework.root, value) for name, value in inputs.items()}
        for name, port in self._ports(compiled, given).items():
            request.set_tensor(port, given[name])
        request.infer()
        tensors = [request.get_output_tensor(place) for place in range(len(compiled.outputs))]
        return {name: _array(tensor) for name, tensor in zip(names, tensors)}

    def _ports(self, compiled, given):
        """Return where each input goes; one that nobody reads has no place.

        An input that is passed on as it is has lost its name to the output: what is left without a
        name takes the inputs that are left, in order, by type and shape.
        """
        ports = {name: port for port in compiled.inputs for name in port.names if name in given}
        left = [name for name in self.inputs if name in given and name not in ports]
        for port in compiled.inputs:
            if any(name in given for name in port.names):
                continue
            for name in left:
                tensor = given[name]
                same_type = port.element_type == tensor.element_type
                if same_type and port.partial_shape.compatible(
                    self.framework.root.PartialShape(list(tensor.shape))
                ):
                    ports[name] = port
                    left.remove(name)
                    break
        return ports


def _refusal(failure):
    """Return what to raise for a model that is not taken."""
    text = " ".join(str(failure).split())
    if any(one in text for one in _REFUSALS):
        return Unsupported(text[:500])
    return failure


def _tensor(root, array):
    """Return an Array as OpenVINO's tensor."""
    if not isinstance(array, Array):
        raise Unsupported("sequences and optionals")
    if array.type == STRING or array.type in _NUMPY:
        return root.Tensor(np.array(array.numpy(), order="C"))
    kind = getattr(root.Type, _TYPES.get(array.type, ""), None)
    if kind is None:
        raise Unsupported("%s tensors" % TYPE_NAMES.get(array.type, array.type))
    bits = np.uint16 if array.type == 16 else np.uint8
    data = np.frombuffer(bytes(array.data), bits)
    tensor = root.Tensor(kind, root.Shape(array.shape))  # one made of `data` would not keep it
    tensor.data.reshape(-1).view(bits)[: len(data)] = data
    return tensor


def _array(tensor):
    """Return OpenVINO's tensor as an Array."""
    kind = tensor.element_type.to_string()
    if kind == "string":
        return from_numpy(np.array(tensor.str_data, object))
    shape = tuple(tensor.shape)
    for number, name in _TYPES.items():
        if name == kind:
            return Array(number, shape, np.array(tensor.data).tobytes())
    raise Unsupported("%s tensors" % kind)


FRAMEWORK = OpenVino
