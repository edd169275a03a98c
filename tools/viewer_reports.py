"""Write the reports that the tests of the page open: tools/viewer_reports.py [FOLDER].

All come from `assay compare` itself, on the reference and on the framework of tests/workers that is
right but for one planted defect.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 16
HOSTILE = '</script><img src=x onerror="document.title=1">\n<!--<script>'
LONG_NAME = 1_000_000
BLOCKS = 250
NORMALIZING = (97, 143, 201)


@dataclass
class Network:
    """A model as it grows, one node on top of another."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)
    value: str = "X"
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def weight(self, *shape: int, scale: float = 1.0, shift: float = 0.0) -> str:
        """Add a parameter and return its name."""
        name = f"w{len(self.weights)}"
        values = (self.random.normal(size=shape) * scale + shift).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def add(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Add a node that takes `inputs`, or else the last value, and return its output."""
        output = f"{name}_out"
        self.nodes.append(
            helper.make_node(op, list(inputs) or [self.value], [output], name=name, **attributes)
        )
        self.value = output
        return output

    def dense(self, scope: str) -> None:
        """Add a product, a bias and a threshold."""
        self.add("MatMul", f"{scope}/MatMul", self.value, self.weight(WIDTH, WIDTH, scale=0.2))
        self.add("Add", f"{scope}/Add", self.value, self.weight(WIDTH, scale=0.1))
        self.add("Relu", f"{scope}/Relu")

    def normalize(self, name: str) -> None:
        """Add a normalization with a small variance, where epsilon counts."""
        variance = np.abs(self.random.normal(size=WIDTH)).astype(np.float32) * 1e-3 + 1e-3
        self.weights.append(numpy_helper.from_array(variance, f"{name}.variance"))
        self.add(
            "BatchNormalization",
            name,
            self.value,
            self.weight(WIDTH, scale=0.01, shift=0.05),
            *(self.weight(WIDTH, scale=0.1), self.weight(WIDTH, scale=0.1)),
            f"{name}.variance",
            epsilon=1e-3,
        )

    def note_origin(self) -> None:
        """Give every node the notes that PyTorch's exporter leaves."""
        for i, node in enumerate(self.nodes):
            parts = [part for part in node.name.split("/") if part]
            scopes = [""] + [".".join(parts[: n + 1]) for n in range(len(parts))]
            trace = (
                f'File "train/model.py", line {20 + i}, in forward\n'
                f"    x = self.{parts[-1].lower()}(x)"
            )
            for key, text in (("stack_trace", trace), ("name_scopes", repr(scopes))):
                node.metadata_props.add(key=f"pkg.torch.onnx.{key}", value=text)

    def save(self, path: Path) -> Path:
        """Write the model, with the last value as its output."""
        inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["batch", WIDTH])]
        outputs = [helper.make_tensor_value_info(self.value, TensorProto.FLOAT, ["batch", WIDTH])]
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, self.weights)
        opsets = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
        return path


def classifier() -> Network:
    """Build ten nodes with a branch, as an exporter writes them."""
    network = Network()
    network.dense("/stem")
    branch = network.value
    network.normalize("/block/norm")
    network.add("MatMul", "/block/MatMul", network.value, network.weight(WIDTH, WIDTH))
    network.add("Add", "/block/residual", network.value, branch)
    network.dense("/head")
    network.add("Softmax", "/probabilities", axis=-1)
    network.note_origin()
    return network


def deep(scopes: bool) -> Network:
    """Build 2,000 nodes in residual blocks; three of them normalize."""
    network = Network()
    for i in range(BLOCKS):
        prefix = f"/stage{i // 50}/block{i % 50}/" if scopes else f"b{i}_"
        before = network.value
        for half in ("a", "b"):
            product = network.weight(WIDTH, WIDTH, scale=0.1)
            network.add("MatMul", f"{prefix}{half}_product", network.value, product)
            bias = network.weight(WIDTH, scale=0.1)
            network.add("Add", f"{prefix}{half}_bias", network.value, bias)
            if half == "a":
                network.add("Relu", f"{prefix}threshold")
        if i in NORMALIZING:
            network.normalize(f"{prefix}norm")
        else:
            network.add("Relu", f"{prefix}second_threshold")
        network.add("Add", f"{prefix}residual", network.value, before)
        network.add("Softmax", f"{prefix}softmax", axis=-1)
    return network


def hostile() -> Network:
    """Build a network whose names attack the page."""
    network = Network()
    network.add("Relu", HOSTILE)
    network.add("Add", "n" * LONG_NAME, network.value, network.weight(WIDTH))
    network.normalize('" onload=alert(1) \u2028')
    network.add("Softmax", "]]>&amp;<b>", axis=-1)
    return network


def environment(folder: Path, planted: str) -> dict[str, str]:
    """Return the variables under which Assay finds the planted framework."""
    files = folder / "environments"
    files.mkdir(parents=True, exist_ok=True)
    for name in ("planted.toml", "planted_backend.py"):
        text = (ROOT / "tests" / "workers" / name).read_text(encoding="utf-8")
        (files / name).write_text(text.replace("PYTHON", sys.executable), encoding="utf-8")
    return {
        **os.environ,
        "ASSAY_HOME": str(folder / "home"),
        "ASSAY_ENVIRONMENTS": str(files),
        "PYTHONPATH": f"{ROOT / 'workers'}:{files}",
        "PLANTED": planted,
    }


def compare(folder: Path, name: str, network: Network, planted: str, instances: int) -> None:
    """Write the reports of one network."""
    random = np.random.default_rng(1)
    data = folder / f"{name}.npz"
    np.savez(data, X=random.normal(size=(instances, WIDTH)).astype(np.float32))
    labels = folder / f"{name}.npy"
    np.save(labels, random.integers(0, WIDTH, instances))
    command = [
        *(str(ROOT / "build" / "assay"), "compare", str(network.save(folder / f"{name}.onnx"))),
        *("--backends", "reference,planted", "--data", str(data), "--labels", str(labels)),
        *("--report", str(folder / f"{name}.html"), "--report", str(folder / f"{name}.sarif")),
        *("--report", str(folder / f"{name}.xml")),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment(folder, planted)
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{name}: exit {done.returncode}: {done.stderr[:2000]}")


def main() -> int:
    """Write all of them."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "viewer"
    folder.mkdir(parents=True, exist_ok=True)
    epsilon = "epsilon-outside-the-root"
    compare(folder, "classifier", classifier(), "leaking-threshold", 40)
    compare(folder, "normalizing", classifier(), epsilon, 40)
    compare(folder, "agreeing", classifier(), "", 40)
    compare(folder, "crashing", classifier(), "crash", 4)
    compare(folder, "deep", deep(scopes=True), epsilon, 4)
    compare(folder, "unscoped", deep(scopes=False), epsilon, 4)
    compare(folder, "hostile", hostile(), epsilon, 4)
    return 0


if __name__ == "__main__":
    sys.exit(main())
