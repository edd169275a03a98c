"""The ways in which a worker says no."""


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
