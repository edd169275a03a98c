"""How scripts of TensorFlow's own calls are written."""

from ..arrays import ML_DTYPES
from ..script import Tracing, call_compiled, modules_below


class TensorFlowTracing(Tracing):
    """tensorflow, as tf, and the modules below it."""

    imports = ("import tensorflow as tf",)

    def __init__(self, tf, mode):
        """Take the release's module."""
        below = (
            "nn", "math", "linalg", "image", "io", "signal", "strings", "raw_ops", "sparse", "sets",
            "bitwise", "quantization", "random", "experimental.numpy", "ragged", "sequence",
        )  # fmt: skip
        self.tf, self.mode = tf, mode
        self.modules = modules_below(tf, "tf", below)
        self.tensors = (type(tf.constant(0)),)

    def put(self, kind):
        """Name the types that numpy lacks."""
        name = ML_DTYPES.get(kind)
        return "tf.cast({}, %s)" % self._kind(name) if name else "tf.constant({})"

    def take(self, value, source):
        """Widen what numpy lacks; texts are bytes in TensorFlow."""
        if value.dtype.name == "string":
            return "np.vectorize(bytes.decode, otypes=[object])(%s.numpy())" % source
        if value.dtype.name in ML_DTYPES.values():
            return "tf.cast(%s, tf.float32).numpy()" % source
        return "%s.numpy()" % source

    def literal(self, value):
        """Write types and shapes."""
        if isinstance(value, self.tf.DType):
            return self._kind(value.name)
        return repr(value.as_list()) if isinstance(value, self.tf.TensorShape) else None

    def _kind(self, name):
        return "tf." + name if hasattr(self.tf, name) else "tf.as_dtype(%r)" % name

    def compiled(self, arguments, results):
        """Compile with XLA."""
        if not self.mode:
            return None
        call = "tf.function(model, jit_compile=True)(%s)" % ", ".join(arguments)
        return call_compiled(self, call, results)


class LiteTracing(TensorFlowTracing):
    """The same, converted and run by the interpreter."""

    imports = (
        "import tensorflow as tf",
        "from ai_edge_litert.interpreter import Interpreter",
    )

    def compiled(self, arguments, results):
        """Convert with TFLiteConverter."""
        names = "(%s)" % "".join("%s, " % name for name in arguments)
        given = ", ".join("%s=%s.numpy()" % (name, name) for name in arguments)
        taken = ", ".join('results["output_%d"]' % n for n in range(len(results)))
        return [
            "specs = [tf.TensorSpec(one.shape, one.dtype) for one in %s]" % names,
            "traced = tf.function(model, autograph=False).get_concrete_function(*specs)",
            "converter = tf.lite.TFLiteConverter.from_concrete_functions([traced], tf.Module())",
            "lite = converter.convert()",
            "results = Interpreter(model_content=lite).get_signature_runner()(%s)" % given,
            "found = [%s]" % taken,
        ]
