"""Polygraphy, the peer of `assay compare`, in an environment of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from real_models import RealModel

PINS = ("polygraphy==0.53.6", "onnx==1.18.0", "onnxruntime==1.22.1", "onnx-graphsurgeon==0.6.1")
ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "polygraphy"


def prepared() -> Path:
    """Return the environment's folder of programs; make it the first time."""
    if not (PLACE / "bin" / "polygraphy").exists():
        uv = shutil.which("uv") or str(ROOT / "build" / "uv" / "bin" / "uv")
        python = str(PLACE / "bin" / "python")
        subprocess.run([uv, "venv", "-q", "--python", "3.11", str(PLACE)], check=True)
        subprocess.run([uv, "pip", "install", "-q", "--python", python, *PINS], check=True)
    return PLACE / "bin"


def shapes_of(model: RealModel) -> list[str]:
    """Return the shapes of a model's inputs as Polygraphy takes them."""
    return [f"{name}:[{','.join(map(str, one.shape))}]" for name, one in model.inputs().items()]
