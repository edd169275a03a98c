"""Says at which node something went wrong, and whether that is only a lack."""

from ..failure import NodeError, Unsupported

# What Keras and what it runs on say of something that they lack.
_LACKS = (
    "is not supported by", "not supported with", "not yet supported", "not implemented",
    "only supports", "does not support", "is only available with", "only available in",
    "not currently supported", "No OpKernel was registered", "Could not find device for node",
    "Could not find valid device for node", "in the list of allowed values",
)  # fmt: skip


class guarded(object):  # noqa: N801 - it reads as a word
    """Gives an exception the place of a node."""

    def __init__(self, node):
        """Take the node."""
        self.node = node

    def __enter__(self):
        """Begin."""

    def __exit__(self, _, failure, trace):
        """End, with a NodeError where there was another one."""
        if failure is None or isinstance(failure, NodeError) or not isinstance(failure, Exception):
            return False
        lack = isinstance(failure, NotImplementedError)
        if lack or any(words in str(failure) for words in _LACKS):
            failure = Unsupported(" ".join(str(failure).split())[-300:] or "Keras gives no reason")
        raise NodeError(self.node, failure)
