"""Answers the engine's requests, one after the other, until the pipe ends."""

import gc
import os
import platform
import struct
import time

from .channel import Channel
from .failure import Failed, refuse
from .forms import Form
from .framework import Watch
from .messages import Named, Reply, Request
from .wire import decode, encode, read_varint, write_varint

_REPEAT_MOST = 64  # bytes of a request that says little
# What stands in a Reply after its id: the status ok, that values are placed, and the key of times.
_PLACED = encode(Reply(status="ok", placed=1)) + encode(Reply(times=b"?"))[:2]


def _end_of_id(data):
    """Return where the first field of a request ends: the number, which the reply repeats."""
    end = 2
    while data[end - 1] > 0x7F:
        end += 1
    return end


def _reply(number, fill):
    """Return the reply that `fill` fills, or the one that says why it cannot."""
    reply = Reply(id=number, status="ok")
    try:
        fill(reply)
    except Exception as failure:
        reply = Reply(id=number)
        refuse(reply, failure)
    return reply


class Server(object):
    """A framework behind a channel."""

    def __init__(self, framework, channel):
        """Nothing is imported yet: that is what `hello` asks for."""
        self.framework, self.channel = framework, channel
        self.models, self.values = {}, {}
        self._forget_form()

    def _forget_form(self):
        self.form = None, None  # of the last run that named one: its number, and what it is
        # By the requests of it whose answers were in the arena: how many feeds those have, and what
        # the reply is made of.
        self.repeats = {}

    def serve(self):
        """Answer until the engine closes the pipe."""
        while True:
            data = self.channel.receive()
            if data is None:
                return
            self.channel.send(self._repeat(data) or encode(self._answer(data)))

    def _answer(self, data):
        """Return the reply to a request."""
        request = decode(Request, data)
        reply = _reply(request.id, lambda reply: getattr(self, "_" + request.verb)(request, reply))
        if request.placed and reply.placed:
            times = struct.Struct("<%dd" % request.count)
            before = _PLACED + write_varint(times.size)
            self.repeats[bytes(data[_end_of_id(data) :])] = request.count, before, times.pack
        return reply

    def _repeat(self, data):
        """Return the bytes of the reply to what has been asked before, but for its number.

        To read and write messages takes longer than small models do, so such a request is known by
        its bytes, and the reply is made of bytes as well. None if it has not been asked before.
        """
        if not self.repeats or len(data) > _REPEAT_MOST:
            return None
        end = _end_of_id(data)
        known = self.repeats.get(data[end:])
        if known is None:
            return None
        (count, before, pack), form = known, self.form[1]
        times, others = form.run_placed(count)
        if others:
            number = read_varint(data, 1)[0]
            return encode(_reply(number, lambda r: form.tell(times, others, r, self.channel)))
        return data[:end] + before + pack(*times)

    def _hello(self, request, reply):
        reply.shared = int(self.channel.share(request.token))
        try:
            self.framework.start(request.threads, request.seed)
        finally:
            if hasattr(gc, "freeze"):  # what was imported stays: nobody need look at it again
                gc.freeze()
            gc.enable()
        reply.framework, reply.version = self.framework.name, self.framework.version()
        reply.python, reply.again = platform.python_version(), 1

    def _operators(self, request, reply):
        reply.operators, missing = self.framework.operators(list(request.outputs))
        reply.missing = [Named(name=name) for name in sorted(missing)]
        reply.reasons = [missing[name] for name in sorted(missing)]

    def _passes(self, request, reply):
        data, folder = _model(request)
        inputs = {one.name: self.channel.value(one.value) for one in request.inputs}
        changed, others = self.framework.passes(data, folder, inputs)
        reply.passes, reply.changed = changed + others, len(changed)

    def _load(self, request, reply):
        data, folder = _model(request)
        self.models.pop(request.model, None)
        self._forget_form()
        self.framework.switch_off(list(request.disabled))
        start = time.perf_counter()
        self.models[request.model] = self.framework.load(data, folder)
        reply.seconds = time.perf_counter() - start

    def _run(self, request, reply):
        inputs = {one.name: self.channel.value(one.value) for one in request.inputs}
        start = time.perf_counter()
        model = self.models[request.model]
        watch = Watch(bool(request.hidden), list(request.watched))
        outputs, hidden = model.run(inputs, list(request.outputs), watch)
        hidden = {name: value for name, value in hidden.items() if watch.wants(name)}
        reply.seconds = time.perf_counter() - start
        if request.keep:
            self.values.update(outputs)
            self.values.update(hidden)
            return
        reply.values = [self.channel.named(name, value) for name, value in outputs.items()]
        reply.hidden, reply.shown_end = self.channel.named_inner(hidden, request.shown_start)
        if request.form:
            self._forget_form()
            self.form = request.form, Form(model, request, reply)

    def _again(self, request, reply):
        number, form = self.form
        if number != request.form:
            raise Failed("no run had the form %d" % request.form)
        form.run(request, reply, self.channel)

    def _script(self, request, reply):
        inputs = {one.name: self.channel.value(one.value) for one in request.inputs}
        names = dict(zip(request.values, request.variables))
        reply.script = self.models[request.model].script(inputs, names)

    def _fetch(self, request, reply):
        reply.values = [self.channel.named(n, self.values[n]) for n in request.outputs]

    def _forget(self, request, _):
        self.models.pop(request.model, None)
        self._forget_form()
        self.values.clear()


def _model(request):
    """Return the bytes of a request's model, and the folder where the file's parts lie."""
    if not request.path:
        return bytes(request.bytes), ""
    with open(request.path, "rb") as file:
        return file.read(), os.path.dirname(os.path.abspath(request.path))


def main(framework):
    """Serve a framework on standard input and output."""
    Server(framework, Channel()).serve()
