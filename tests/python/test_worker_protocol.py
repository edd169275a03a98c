"""The worker's side of the pipe: its codec against protobuf's own, and each verb."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import ROOT
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(ROOT / "workers"))

from assay_worker import (  # type: ignore[import-not-found]
    arrays,
    channel,
    failure,
    forms,
    framework,
    messages,
    onnx_messages,
    wire,
)
from assay_worker.onnxruntime import run as onnxruntime_run  # type: ignore[import-not-found]


def small_model(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    """Return a model over X and Y of three floats."""
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "XY"]
    graph = helper.make_graph(list(nodes), "g", info[:1], info[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31, 2**63 - 1, -1, -(2**63)])
def test_numbers_of_any_size(number: int) -> None:
    sent = messages.Request(id=number)
    assert wire.decode(messages.Request, wire.encode(sent)).id == number


def test_models_are_read_as_protobuf_reads_them() -> None:
    folders = sorted((ROOT / "build" / "onnx-tests" / "node").iterdir())[::20]
    for folder in folders:
        data = (folder / "model.onnx").read_bytes()
        theirs, ours = (
            onnx.load_model_from_string(data),
            wire.decode(onnx_messages.ModelProto, data),
        )
        assert [n.op_type for n in ours.graph.node] == [n.op_type for n in theirs.graph.node]
        for mine, other in zip(ours.graph.node, theirs.graph.node, strict=True):
            assert list(mine.input) == list(other.input)
            for a, b in zip(mine.attribute, other.attribute, strict=True):
                assert (a.name, a.type, a.i, list(a.ints)) == (b.name, b.type, b.i, list(b.ints))
                assert a.f == pytest.approx(b.f, nan_ok=True)


KINDS = ["float32", "float64", "float16", "int8", "uint16", "int32", "int64", "uint64", "bool"]


@pytest.mark.parametrize("kind", [*KINDS, "complex64", "complex128"])
@pytest.mark.parametrize("raw", [True, False])
def test_tensors_of_files(kind: str, raw: bool) -> None:
    array = np.arange(6).reshape(2, 3).astype(kind)
    if raw:
        proto = numpy_helper.from_array(array)
    else:
        number = helper.np_dtype_to_tensor_dtype(array.dtype)
        proto = helper.make_tensor("t", number, array.shape, array.ravel().tolist())
    read = arrays.from_proto(wire.decode(onnx_messages.TensorProto, proto.SerializeToString()), "")
    assert read.shape == array.shape
    assert np.array_equal(read.numpy(), array)


@pytest.mark.parametrize("data", [b"\xff" * 11, b"\x0a\x7f", b"\x0b", b"\x08"])
def test_what_is_no_message(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(messages.Request, data)


class Pipe:
    """A worker, asked by hand."""

    def __init__(self, folder: Path, arenas: tuple[int, ...] = ()) -> None:
        """Start the example's backend, with everything inside the messages or in two files."""
        path = f"{ROOT / 'workers'}:{ROOT / 'examples' / 'backend'}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "assay_worker", "plain_backend"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "ASSAY_ARENAS": ",".join(map(str, arenas))},
            pass_fds=arenas,
        )
        self.next = 1

    def ask(self, verb: str, **fields: Any) -> Any:
        """Send a request and return the reply."""
        assert self.process.stdin and self.process.stdout
        number = self.next
        self.next *= 7  # numbers of one byte and of several
        data = wire.encode(messages.Request(id=number, verb=verb, **fields))
        self.process.stdin.write(wire.write_varint(len(data)) + data)
        self.process.stdin.flush()
        size = shift = 0
        while True:
            byte = self.process.stdout.read(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        reply = wire.decode(messages.Reply, self.process.stdout.read(size))
        assert reply.id == number
        return reply

    def end(self) -> None:
        """Close the pipe, with which the worker ends."""
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(10) == 0


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    """Return a worker that has said hello."""
    made = Pipe(tmp_path)
    assert made.ask("hello", threads=1).framework == "plain"
    yield made
    made.end()


def named(name: str, values: list[float]) -> Any:
    """Return a tensor of floats as a message."""
    data = np.array(values, np.float32).tobytes()
    tensor = messages.Tensor(type=1, dims=[len(values)], data=data)
    return messages.Named(name=name, value=messages.Value(kind=1, tensor=tensor))


def floats(message: Any) -> list[float]:
    """Return the numbers of a tensor's message."""
    found: list[float] = np.frombuffer(message.value.tensor.data, np.float32).tolist()
    return found


def test_values_stay_in_the_worker_until_they_are_fetched(pipe: Pipe) -> None:
    model = small_model(
        helper.make_node("Add", ["X", "X"], ["Z"]), helper.make_node("Relu", ["Z"], ["Y"])
    )
    assert pipe.ask("load", model="m", bytes=model.SerializeToString()).status == "ok"
    inputs = [named("X", [1, -2, 3])]
    reply = pipe.ask("run", model="m", inputs=inputs, hidden=1, keep=1)
    assert reply.status == "ok" and not reply.values
    fetched = {one.name: floats(one) for one in pipe.ask("fetch", outputs=["Z", "Y"]).values}
    assert fetched == {"Z": [2, -4, 6], "Y": [2, 0, 6]}
    assert pipe.ask("forget", model="m").status == "ok"
    assert pipe.ask("run", model="m", inputs=inputs).status == "failed"


def test_what_is_lacking_is_named_at_once(pipe: Pipe) -> None:
    nodes = [helper.make_node("Sin", ["X"], ["Z"]), helper.make_node("Cos", ["Z"], ["Y"])]
    reply = pipe.ask("load", model="m", bytes=small_model(*nodes).SerializeToString())
    assert (reply.status, reply.message) == ("unsupported", "Cos, Sin")


def test_nonsense_is_refused_and_the_worker_goes_on(pipe: Pipe) -> None:
    for fields in ({"bytes": b"\xff" * 20}, {"path": "nowhere.onnx"}, {"bytes": b""}):
        assert pipe.ask("load", model="m", **fields).status == "failed"
    assert pipe.ask("no_such_verb").status == "failed"
    assert set(pipe.ask("operators").operators) == {"Add", "MatMul", "Mul", "Relu", "Softmax"}


def blocks(*feeds: list[float]) -> bytes:
    """Return tensors of floats as blocks, one after the other."""
    return b"".join(np.array(feed, np.float32).tobytes().ljust(64, b"\0") for feed in feeds)


def ask_first(pipe: Pipe, *nodes: onnx.NodeProto) -> None:
    """Load a model and run it once, under the number 5."""
    data = small_model(*nodes).SerializeToString()
    assert pipe.ask("load", model="m", bytes=data).status == "ok"
    reply = pipe.ask("run", model="m", inputs=[named("X", [1, 2, 3])], form=5)
    assert reply.status == "ok"


def test_many_feeds_are_answered_in_one_reply(pipe: Pipe) -> None:
    ask_first(pipe, helper.make_node("Add", ["X", "X"], ["Y"]))
    reply = pipe.ask("again", form=5, count=3, data=blocks([1, 2, 3], [4, 5, 6], [7, 8, 9]))
    assert reply.status == "ok"
    assert not reply.results
    assert bytes(reply.data) == blocks([2, 4, 6], [8, 10, 12], [14, 16, 18])
    assert len(np.frombuffer(reply.times, np.float64)) == 3


@contextlib.contextmanager
def sharing(folder: Path) -> Iterator[tuple[Pipe, int, int, int]]:
    """Give a worker that has said hello, and the files that it shares with us."""
    files = tuple(os.memfd_create(name) for name in ("inward", "outward", "shown"))
    os.write(files[0], b"a token")
    shared = Pipe(folder, files)
    assert shared.ask("hello", threads=1, token="a token").shared
    yield shared, files[0], files[1], files[2]
    shared.end()
    for file in files:
        os.close(file)


def test_feeds_that_lie_in_a_file_are_answered_in_another(tmp_path: Path) -> None:
    with sharing(tmp_path) as (shared, inward, outward, _):
        ask_first(shared, helper.make_node("Add", ["X", "X"], ["Y"]))
        for turn, count in enumerate([2, 2, 2, 1, 3, 3, 2]):
            feeds = [[turn + i, 2.0 * i, -turn] for i in range(count)]
            os.pwrite(inward, blocks(*feeds), 64)
            reply = shared.ask("again", form=5, count=count, placed=1)
            assert (reply.status, reply.placed, len(reply.times)) == ("ok", 1, 8 * count)
            found = os.pread(outward, 64 * count, 0)
            assert found == blocks(*[[2 * number for number in feed] for feed in feeds])


def test_inner_values_lie_in_a_third_file_from_where_they_may(tmp_path: Path) -> None:
    with sharing(tmp_path) as (shared, _, _, shown):
        numbers = np.arange(4096, dtype=np.float32)
        nodes = [helper.make_node("Add", ["X", "X"], ["Z"]), helper.make_node("Relu", ["Z"], ["Y"])]
        data = small_model(*nodes).SerializeToString()
        assert shared.ask("load", model="m", bytes=data).status == "ok"
        for start in (0, 1 << 16):
            reply = shared.ask(
                "run",
                model="m",
                hidden=1,
                shown_start=start,
                inputs=[named("X", numbers.tolist())],
            )
            assert reply.status == "ok", reply.message
            place = next(one for one in reply.hidden if one.name == "Z").value.tensor
            assert (place.in_arena, place.offset, place.length) == (1, start, numbers.nbytes)
            assert reply.shown_end >= start + numbers.nbytes
            assert os.pread(shown, numbers.nbytes, start) == (2 * numbers).tobytes()


def test_a_form_ends_with_its_model(pipe: Pipe) -> None:
    ask_first(pipe, helper.make_node("Add", ["X", "X"], ["Y"]))
    assert pipe.ask("again", form=6, count=1, data=blocks([1, 2, 3])).status == "failed"
    assert pipe.ask("load", model="m", bytes=b"nonsense").status == "failed"
    reply = pipe.ask("again", form=5, count=1, data=blocks([1, 2, 3]))
    assert reply.status == "failed"
    assert "form 5" in reply.message


class Shrinking(framework.Loaded):  # type: ignore[misc]
    """Leaves the zeros out, and takes no negative number."""

    def run(self, inputs: Any, outputs: Any, hidden: Any) -> Any:
        """Return the others."""
        numbers = inputs["X"].numpy()
        if (numbers < 0).any():
            raise failure.Unsupported("negative numbers")
        return {"Y": arrays.from_numpy(numbers[numbers != 0])}, {}


class NoArena:
    """A channel to somewhere else."""

    outward = shown = None
    named = channel.Channel.named
    _message = channel.Channel._message
    _tensor = channel.Channel._tensor


def test_a_feed_that_is_refused_or_of_another_form_is_told_apart() -> None:
    first = messages.Request(inputs=[named("X", [1, 2, 3])])
    form = forms.Form(Shrinking(), first, messages.Reply(values=[named("Y", [1, 2, 3])]))
    data = blocks([1, 2, 3], [1, 0, 3], [-1, 0, 0], [4, 5, 6])
    reply = messages.Reply()
    form.run(messages.Request(count=4, data=data), reply, NoArena())
    told = [(one.status, [floats(value) for value in one.values]) for one in reply.results]
    assert told == [
        ("ok", [[1, 2, 3]]),
        ("ok", [[1, 3]]),
        ("unsupported", []),
        ("ok", [[4, 5, 6]]),
    ]


def test_onnxruntime_writes_results_to_their_places_unless_they_do_not_fit() -> None:
    info = [
        helper.make_tensor_value_info("X", TensorProto.FLOAT, [3]),
        helper.make_tensor_value_info("Y", TensorProto.INT64, [1, None]),
    ]
    node = helper.make_node("NonZero", ["X"], ["Y"])
    graph = helper.make_graph([node], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    runtime = onnxruntime_run.OnnxRuntime("")
    runtime.start(1, 0)
    loaded = runtime.load(model.SerializeToString(), "")
    feed, place = np.array([5, 0, 7], np.float32), np.zeros((1, 2), np.int64)
    call = loaded.bind({"X": arrays.Array(1, (3,), feed.data.cast("B"))}, [], {"Y": place})
    assert call() is None
    assert place.tolist() == [[0, 2]]
    feed[:] = 0, 1, 2
    assert call() is None
    assert place.tolist() == [[1, 2]]
    feed[:] = 1
    assert call()["Y"].tolist() == [[0, 1, 2]]
