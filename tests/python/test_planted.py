"""Defects planted in a real trained model are found where they are: a sample of the measure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from planted import measure  # noqa: E402
from planted_cases import Case, cases_of, model_of  # noqa: E402

SAMPLE = {
    "dropped-bias",
    "edge-for-reflection",
    "first-channel-only",
    "half-accumulation",
    "leaking",
    "same-lower-for-upper",
    "swapped-gates",
    "transposed-weights",
    "fused-Conv-Relu-clipped-at-six",
    "fused-Pad-Unsqueeze-border-of-zeros",
}


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Measure the sample on one model."""
    model = model_of("silero_vad_16k_sequence")
    chosen = [case for case in cases_of(model, 1, 0) if case.defect in SAMPLE]
    assert {case.defect for case in chosen} == SAMPLE
    alarms = measure(model, chosen)
    assert alarms == []
    return chosen


def test_what_changes_an_output_is_found(cases: list[Case]) -> None:
    visible = [case for case in cases if case.rows["visible"]]
    assert len(visible) >= 9
    assert [case.defect for case in visible if not case.rows["assay"]["candidates"]] == []


def test_the_first_suspect_is_the_planted_node(cases: list[Case]) -> None:
    alone = [case for case in cases if case.rows["visible"] and not case.fused]
    assert [case.defect for case in alone if case.rows["assay"]["place"] != 1] == []


def test_a_defect_of_a_fused_pair_is_the_optimisers(cases: list[Case]) -> None:
    kinds = [case.rows["kinds"] for case in cases if case.fused]
    assert kinds == [["optimiser"], ["optimiser"]]
