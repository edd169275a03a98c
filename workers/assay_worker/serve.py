"""Answers the engine's requests, one after the other, until the pipe ends."""

import os
import platform
import time
import traceback

from .channel import Channel
from .failure import NodeError, Restart, Unsupported
from .framework import Watch
from .messages import Named, Reply, Request


class Server(object):
    """A framework behind a channel."""

    def __init__(self, framework, channel):
        """Nothing is imported yet: that is what `hello` asks for."""
        self.framework, self.channel = framework, channel
        self.models, self.values = {}, {}

    def serve(self):
        """Answer until the engine closes the pipe."""
        while True:
            request = self.channel.receive(Request)
            if request is None:
                return
            reply = Reply(id=request.id, status="ok")
            try:
                getattr(self, "_" + request.verb)(request, reply)
            except Exception as failure:
                reply = _refusal(request, failure)
            self.channel.send(reply)

    def _hello(self, request, reply):
        reply.shared = int(self.channel.share(request.token))
        self.framework.start(request.threads, request.seed)
        reply.framework, reply.version = self.framework.name, self.framework.version()
        reply.python = platform.python_version()

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
        reply.hidden = [self.channel.named(name, value) for name, value in hidden.items()]

    def _script(self, request, reply):
        inputs = {one.name: self.channel.value(one.value) for one in request.inputs}
        names = dict(zip(request.values, request.variables))
        reply.script = self.models[request.model].script(inputs, names)

    def _fetch(self, request, reply):
        reply.values = [self.channel.named(n, self.values[n]) for n in request.outputs]

    def _forget(self, request, _):
        self.models.pop(request.model, None)
        self.values.clear()


def _model(request):
    """Return the bytes of a request's model, and the folder where the file's parts lie."""
    if not request.path:
        return bytes(request.bytes), ""
    with open(request.path, "rb") as file:
        return file.read(), os.path.dirname(os.path.abspath(request.path))


def _refusal(request, failure):
    """Return the reply that says what went wrong, and where."""
    reply = Reply(id=request.id, status="failed")
    if isinstance(failure, Restart):
        reply.status = "restart"
        reply.variables = ["%s=%s" % pair for pair in sorted(failure.variables.items())]
        return reply
    if isinstance(failure, NodeError):
        reply.node, reply.op = failure.node.name, failure.node.op
        failure = failure.cause
    if isinstance(failure, Unsupported):
        reply.status, reply.message = "unsupported", str(failure)
        return reply
    lines = traceback.format_exception_only(type(failure), failure)
    reply.message = " ".join("".join(lines).split())[:2000]
    return reply


def main(framework):
    """Serve a framework on standard input and output."""
    Server(framework, Channel()).serve()
