"""usage: python -m assay_worker FRAMEWORK [MODE [MODE_OF_A_TWIN]...]: a worker on its streams."""

import gc
import importlib.util
import sys


def main():
    """Find the framework's module and serve it; Assay's own come before those on the path."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    name, modes = sys.argv[1], sys.argv[2:] or [""]
    gc.disable()  # to look for garbage while importing takes time and finds none
    from . import serve, twins

    own = importlib.util.find_spec("assay_worker." + name) is not None
    module = importlib.import_module("assay_worker.%s.run" % name if own else name)
    for mode in modes:
        if mode not in module.FRAMEWORK.modes:
            sys.exit("%s has no mode %s" % (name, mode))
    serve.main(module.FRAMEWORK(twins.divide(modes)))


main()
