"""Every known defect of Keras' layers is found, at its layer, and explained where a variant is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from frameworks import assay, install
from keras_known import INCONSISTENT, INVALID, REFUSED, Network, conv_lstm_of_two_steps

pytestmark = pytest.mark.old


def compare(network: Network, folder: Path, backends: list[str]) -> dict[str, Any]:
    """Return the document of a comparison with the reference."""
    install(*backends)
    listed = ",".join(["reference", *backends])
    _, document = assay("compare", *network.write(folder), "--backends", listed)
    assert "error" not in document, document["error"]
    return document


def by_backend(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the first finding of each backend."""
    found: dict[str, dict[str, Any]] = {}
    for one in document["findings"]:
        found.setdefault(one["backend"], one)
    return found


@pytest.mark.parametrize("name", INCONSISTENT)
def test_a_wrong_value_is_found_at_its_layer_and_explained(tmp_path: Path, name: str) -> None:
    known = INCONSISTENT[name]
    document = compare(known.network, tmp_path, [*known.wrong, *known.right])
    found = by_backend(document)
    assert set(found) == set(known.wrong), found
    for backend, variant in known.wrong.items():
        one = found[backend]
        place = (one["kind"], one["node"], one.get("variant"))
        assert place == ("inconsistency", known.network.name(known.place), variant), one


@pytest.mark.parametrize("name", INVALID)
def test_who_takes_what_is_not_valid(tmp_path: Path, name: str) -> None:
    known = INVALID[name]
    backends = [*known.accepted, *known.killed, *known.refused]
    document = compare(known.network, tmp_path, backends)
    assert document["valid"] is False
    kinds = {backend: one["kind"] for backend, one in by_backend(document).items()}
    accepted = dict.fromkeys(known.accepted, "invalid-accepted")
    assert kinds == {**accepted, **dict.fromkeys(known.killed, "crash")}, document["findings"]


@pytest.mark.parametrize("name", REFUSED)
def test_who_refuses_what_is_valid(tmp_path: Path, name: str) -> None:
    network, refusing, running = REFUSED[name]
    found = by_backend(compare(network, tmp_path, [*refusing, *running]))
    assert {backend: one["kind"] for backend, one in found.items()} == dict.fromkeys(
        refusing, "valid-refused"
    )
    for backend, place in refusing.items():
        assert found[backend]["node"] == network.name(place)


def test_a_convention_is_no_defect(tmp_path: Path) -> None:
    document = compare(conv_lstm_of_two_steps(), tmp_path, ["tfkeras-2.4"])
    assert document["findings"] == []
