"""How scripts of JAX's own calls are written."""

import numpy as np

from ..arrays import ML_DTYPES
from ..script import Tracing, call_compiled, modules_below


class JaxTracing(Tracing):
    """jax and the modules below it; jax.numpy is jnp."""

    imports = (
        "import jax",
        "import jax.numpy as jnp",
        'jax.config.update("jax_enable_x64", True)',
    )
    more_imports = {
        "jax.scipy.ndimage": "import jax.scipy.ndimage",
        "jax.scipy.signal": "import jax.scipy.signal",
        "jax.scipy.special": "import jax.scipy.special",
    }

    def __init__(self, jax, mode):
        """Take the release's module."""
        below = (
            "lax", "nn", "scipy.special", "scipy.ndimage", "scipy.signal", "image", "random",
            "scipy.linalg",
        )  # fmt: skip
        self.jax, self.mode = jax, mode
        self.modules = modules_below(jax, "jax", below)
        self.modules += modules_below(jax.numpy, "jnp", ("fft", "linalg"))
        self.tensors = (type(jax.numpy.zeros(1)),)

    def put(self, kind):
        """Name the types that numpy lacks."""
        name = ML_DTYPES.get(kind)
        return "jnp.asarray({}, jnp.%s)" % name if name else "jnp.asarray({})"

    def take(self, value, source):
        """Widen what numpy lacks."""
        wide = value.dtype.name in ML_DTYPES.values()
        return "np.asarray(%s%s)" % (source, ", np.float32" if wide else "")

    def literal(self, value):
        """Write types by their names in jax.numpy."""
        if not isinstance(value, (np.dtype, type)) and not hasattr(value, "dtype"):
            return None
        if hasattr(value, "shape") and not isinstance(value, (np.dtype, type)):
            return None
        try:
            name = np.dtype(value).name
        except TypeError:
            return None
        if value in (bool, int, float):
            return None
        return "jnp." + ("bool_" if name == "bool" else name)

    def compiled(self, arguments, results):
        """Compile with jax.jit."""
        if not self.mode:
            return None
        return call_compiled(self, "jax.jit(model)(%s)" % ", ".join(arguments), results)
