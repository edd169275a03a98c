"""The evaluator of the onnx package: a peer that is known to have faults of its own."""

import os

import numpy as np

from ..arrays import take_ml_dtypes
from ..failure import Unsupported
from ..framework import Framework, Loaded, limit_threads
from ..whole import from_python, graph_outputs, node_outputs, script, to_python

_REFUSALS = (
    "RuntimeImplementationError",
    "RuntimeContextError",
    "NotImplementedError",
    "ImportError",  # images need another package
)


class OnnxReference(Framework):
    """onnx.reference.ReferenceEvaluator."""

    name = "onnx_reference"

    def start(self, threads, seed):
        """Import; the evaluator's values are numpy's."""
        limit_threads(threads)
        import onnx
        import onnx.reference

        self.root = onnx
        np.random.seed(seed)
        take_ml_dtypes()

    def version(self):
        """Return the version of onnx."""
        return self.root.__version__

    def operators(self, names):
        """Return what has a class of its own, or is a function of the standard."""
        from onnx.reference.ops import _op_list, aionnxml

        ml_list = getattr(aionnxml, "_op_list", None)
        present = _names(_op_list, "")
        present.update(_names(ml_list, "ai.onnx.ml.") if ml_list else ())
        for schema in self.root.defs.get_all_schemas():
            if schema.domain == "" and (
                schema.has_function or schema.has_context_dependent_function
            ):
                present.add(schema.name)
        return sorted(present), {"*": "onnx.reference has no implementation"}

    def load(self, data, folder):
        """Read the file and find an implementation of each node."""
        model = self.root.load_model_from_string(bytes(data))
        if folder and os.path.isdir(folder):
            self.root.external_data_helper.load_external_data_for_model(model, folder)
        evaluator = _refused(self.root.reference.ReferenceEvaluator, model)
        return LoadedEvaluator(evaluator, graph_outputs(data), node_outputs(data))


class LoadedEvaluator(Loaded):
    """An evaluator: it computes all values anyway."""

    def __init__(self, evaluator, outputs, inner):
        """Keep the names."""
        self.evaluator, self.outputs, self.inner = evaluator, outputs, inner

    def run(self, inputs, outputs, hidden):
        """Evaluate."""
        feed = {name: _writable(to_python(value)) for name, value in inputs.items()}
        wanted = list(outputs) or self.outputs
        shown = [name for name in self.inner if hidden.wants(name)]
        inner = [name for name in shown if name not in wanted]
        results = _refused(self.evaluator.run, wanted + inner, feed)
        values = {name: _array(value) for name, value in zip(wanted + inner, results)}
        return {n: values[n] for n in wanted}, {n: values[n] for n in shown}

    def script(self, inputs, variables):
        """Make an evaluator."""
        lines = ["evaluator = onnx.reference.ReferenceEvaluator(onnx.load_from_string(model))"]
        return script(["import onnx.reference"], lines + ["found = evaluator.run(None, feed)"])


def _names(module, prefix):
    """Return the operators that have classes in a module; Name_13 is a version of Name."""
    found = set()
    for name, value in vars(module).items():
        if isinstance(value, type) and hasattr(value, "op_domain"):
            base, _, version = name.rpartition("_")
            found.add(prefix + (base if base and version.isdigit() else name))
    return found - {prefix + "OpRun", prefix + "OpFunction"}


def _refused(function, *arguments):
    """Call; what the evaluator has not implemented is unsupported."""
    try:
        return function(*arguments)
    except Exception as failure:
        if type(failure).__name__ in _REFUSALS:
            raise Unsupported(" ".join(str(failure).split())[:500])
        raise


def _writable(value):
    """Return a copy of an array: operators may write to what they get."""
    if isinstance(value, list):
        return [_writable(one) for one in value]
    return np.array(value) if isinstance(value, np.ndarray) else value


def _array(value):
    """Return a value of the evaluator; sparse tensors are none of Assay's."""
    if type(value).__name__ == "SparseTensor":
        raise Unsupported("sparse outputs")
    if isinstance(value, np.generic):  # texts and numbers without a rank
        value = np.array(value)
    return from_python(value)


FRAMEWORK = OnnxReference
