"""Tables: which of a framework's own calls each ONNX operator is.

The rows of a framework stand in its modules rows_*.py. A row is a function with the operator's name
that takes the node and its inputs as the framework's tensors (None where one is left out) and gives
the output, or a tuple of them. `call` makes a row of a function of the framework whose arguments
are the inputs as they are. MISSING says, for what a framework has not, why.
"""

from .failure import Unsupported


def call(path):
    """Return a row that calls a function of the framework with the inputs, and nothing else.

    The path is looked up in the framework's module: a release without the function lacks the row.
    """

    def row(node, *inputs):
        return row.function(*inputs)

    row.path = path
    return row


def since(version):
    """Guard a row: releases before a version lack it."""

    def mark(row):
        row.since = version
        return row

    return mark


def before(version):
    """Guard a row: releases from a version on lack it."""

    def mark(row):
        row.before = version
        return row

    return mark


def composed(row):
    """Say that a row is what users write of several calls: the framework has no single one."""
    row.composed = True
    return row


def unsupported(reason):
    """End a row whose framework lacks an option, a type or a rank."""
    raise Unsupported(reason)


def numbers(version):
    """Return the leading numbers of a version text: "1.10.0+cpu" is (1, 10, 0)."""
    found = []
    for part in version.split("+")[0].split("."):
        digits = ""
        while len(digits) < len(part) and part[len(digits)].isdigit():
            digits += part[len(digits)]
        if not digits:
            break
        found.append(int(digits))
    return tuple(found)


def collect(modules, root, version):
    """Return the rows that a framework of a version has, and for the others why not."""
    rows, missing, release = {}, {}, numbers(version)
    for module in modules:
        missing.update(getattr(module, "MISSING", {}))
        for name, row in vars(module).items():
            if not name[:1].isupper() or name == "MISSING" or not callable(row):
                continue
            if isinstance(row, type):
                continue
            reason = _refusal(row, root, release)
            if reason:
                missing[name] = reason
            else:
                rows[name] = row
    return rows, {name: why for name, why in missing.items() if name not in rows}


def _refusal(row, root, release):
    """Return why a release lacks a row, or nothing."""
    if release < numbers(getattr(row, "since", "0")):
        return "there since %s" % row.since
    if hasattr(row, "before") and release >= numbers(row.before):
        return "there until %s" % row.before
    if hasattr(row, "path"):
        function = root
        for part in row.path.split("."):
            function = getattr(function, part, None)
        if function is None:
            return "%s has no %s" % (root.__name__, row.path)
        row.function = function
    return None
