"""usage: python -m assay_worker FRAMEWORK [MODE]: a worker on standard input and output."""

import importlib
import sys


def main():
    """Find the framework's module and serve it; Assay's own come before those on the path."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    name, mode = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    from . import serve

    module = importlib.import_module("assay_worker.%s.run" % name if "." not in name else name)
    if mode not in module.FRAMEWORK.modes:
        sys.exit("%s has no mode %s" % (name, mode))
    serve.main(module.FRAMEWORK(mode))


main()
