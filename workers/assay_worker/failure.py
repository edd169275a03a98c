"""The ways in which a worker says no."""

import traceback


class Unsupported(Exception):
    """The framework has no such operator, type or option; nothing is wrong with it."""


class Failed(Exception):
    """The framework, or the data, is at fault."""


class NodeError(Exception):
    """What went wrong at a node: the exception is the cause."""

    def __init__(self, node, cause):
        """Keep both."""
        Exception.__init__(self, str(cause))
        self.node, self.cause = node, cause


class Restart(Exception):
    """What is asked takes a new process, started with these environment variables."""

    def __init__(self, variables):
        """Take a dictionary."""
        Exception.__init__(self, "a new process is needed")
        self.variables = variables


def refuse(answer, failure):
    """Have a Reply or a Result say what went wrong, and where."""
    answer.status = "failed"
    if isinstance(failure, Restart):
        answer.status = "restart"
        answer.variables = ["%s=%s" % pair for pair in sorted(failure.variables.items())]
        return
    if isinstance(failure, NodeError):
        answer.node, answer.op = failure.node.name, failure.node.op
        failure = failure.cause
    if isinstance(failure, Unsupported):
        answer.status, answer.message = "unsupported", str(failure)
        return
    lines = traceback.format_exception_only(type(failure), failure)
    answer.message = " ".join("".join(lines).split())[:2000]
