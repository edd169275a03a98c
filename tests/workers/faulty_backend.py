"""ONNX Runtime with a defect planted at one node of whatever model it is given."""

import defects
import planting
from assay_worker.onnxruntime.run import LoadedSession, OnnxRuntime
from assay_worker.whole import node_outputs, with_outputs


class Faulty(OnnxRuntime):
    """ONNX Runtime without its own fusions: what is wrong has been planted."""

    modes = ("",)

    def __init__(self, mode):
        """Read what to plant, and where."""
        super().__init__("noopt")
        self.defect, self.value = planting.asked()
        self.fuses = True
        if self.defect and self.defect not in defects.DEFECTS:
            raise SystemExit(f"no defect {self.defect}")

    def load(self, data, folder):
        """Load the model with its defect."""
        return LoadedFaulty(self, data, folder)

    def passes(self, data, folder, inputs):
        """Name the fusion, which is this runtime's only pass."""
        return ([self.defect] if self._fuses() else []), []

    def switch_off(self, passes):
        """Keep the fusion away."""
        self.fuses = not ({"*", self.defect} & set(passes))

    def planted(self, data, watched=()):
        """Return a model's bytes with the defect in it."""
        healthy = not self.defect or (self._fuses() and not self.fuses)
        return data if healthy else planting.planted(data, self.defect, self.value, watched)

    def _fuses(self):
        return self.defect.startswith("fused-")


class LoadedFaulty(LoadedSession):
    """A session on the planted model; who watches sees the values of the model's own nodes."""

    def __init__(self, framework, data, folder):
        """Keep the model as it was given."""
        super().__init__(framework, framework.planted(data), folder)
        self.given = data

    def run(self, inputs, outputs, hidden):
        """Run; a fused pair falls apart where its inner value is watched."""
        if not hidden:
            return super().run(inputs, outputs, hidden)
        inner = [name for name in node_outputs(self.given) if hidden.wants(name)]
        if self.inner != inner:
            shown = with_outputs(self.framework.planted(self.given, inner), inner)
            self.watched, self.inner = self.framework.session(shown, self.folder), inner
        wanted = list(outputs) or [one.name for one in self.plain.get_outputs()]
        values = self._run(self.watched, inputs, wanted, inner)
        seen = {name: values[name] for name in inner if name in values}
        return {name: values[name] for name in wanted}, seen


FRAMEWORK = Faulty
