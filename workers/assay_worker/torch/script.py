"""How scripts of torch's own calls are written."""

from ..script import Tracing, call_compiled, modules_below
from .run import MORE_TYPES


class TorchTracing(Tracing):
    """torch and the modules below it."""

    imports = ("import torch",)

    def __init__(self, torch, mode):
        """Take the release's module."""
        below = ("nn.functional", "fft", "linalg", "special", "nn.utils.rnn")
        self.torch, self.mode = torch, mode
        self.modules, self.tensors = modules_below(torch, "torch", below), (torch.Tensor,)

    def put(self, kind):
        """Copy: torch wants to write."""
        if kind in MORE_TYPES:
            return "torch.from_numpy({}).to(torch.%s)" % MORE_TYPES[kind][0]
        return "torch.from_numpy({})"

    def take(self, value, source):
        """Widen what numpy lacks."""
        names = ["torch." + name for name, _ in MORE_TYPES.values()]
        return "%s%s.numpy()" % (source, ".float()" if str(value.dtype) in names else "")

    def literal(self, value):
        """Write types, layouts and shapes."""
        if isinstance(value, self.torch.Size):
            return repr(tuple(value))
        kinds = (self.torch.dtype, self.torch.layout, self.torch.memory_format)
        return str(value) if isinstance(value, kinds) else None

    def compiled(self, arguments, results):
        """Compile with torch.compile."""
        if not self.mode:
            return None
        call = "torch.compile(model, dynamic=False)(%s)" % ", ".join(arguments)
        return call_compiled(self, call, results)
