"""What Keras runs on: imported before it, and told how many threads to use."""

import os


def set_up(threads):
    """Import what $KERAS_BACKEND names; return its name and version."""
    name = os.environ["KERAS_BACKEND"]
    return "%s %s" % (name, _MODULES[name](threads))


def _tensorflow(threads):
    import tensorflow as tf

    if hasattr(tf, "get_logger"):
        tf.get_logger().setLevel("ERROR")
    if threads > 0 and hasattr(tf, "config"):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    return tf.__version__


def _torch(threads):
    import torch

    if threads > 0:
        torch.set_num_threads(threads)
    return torch.__version__


def _jax(_):
    import jax

    return jax.__version__


def _theano(_):
    import theano

    return theano.__version__


def _cntk(_):
    import cntk

    cntk.logging.set_trace_level(cntk.logging.TraceLevel.Error)
    return cntk.__version__


_MODULES = {
    "tensorflow": _tensorflow,
    "tf.keras": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "theano": _theano,
    "cntk": _cntk,
}
