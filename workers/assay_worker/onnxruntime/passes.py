"""The passes of ONNX Runtime's optimizer: which there are, and which change a model.

The runtime has no list of them. Its log names every transformer that it applies and says which
changed the graph. A transformer made of rules does not say which rule did it; rules are switched
off by their own names, and those are among the texts of the library.
"""

import os
import re
import tempfile

_APPLIED = re.compile(r"GraphTransformer (\S+) modified: ([01]) with status: (\w+)")
_RULES = re.compile(r"RuleBased")
# How the names of rules and transformers begin or end.
_NAME = re.compile(
    rb"\0([A-Z][A-Za-z0-9_]*(?:Fusion|Elimination|Rewrite|Transformer|Folding|Optimizer|Remover"
    rb"|Sharing|Cleanup|Splitting|Swap)|(?:Eliminate|Fuse)[A-Z][A-Za-z0-9]+)(?=\0)"
)


def of_model(make_session, library):
    """Return (passes that change a model, others); `make_session` loads it with a full log."""
    changed, others = [], []
    for name, modified, status in _APPLIED.findall(_log_of(make_session)):
        (changed if modified == "1" or status != "OK" else others).append(name)
    named = _names_in(library)
    rules = [name for name in named if name not in changed and name not in others]
    by_rule = [name for name in changed if _RULES.search(name)]
    changed = [name for name in _unique(changed) if name not in by_rule]
    if by_rule:
        changed += rules
    others = by_rule + [name for name in others + rules if not _RULES.search(name)]
    return changed, [name for name in _unique(others) if name not in changed]


def _unique(names):
    return sorted(set(names), key=names.index)


def _log_of(make_session):
    """Return what goes to standard error meanwhile; a session that fails has logged why."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            make_session()
        except Exception:  # the log says how far it came
            pass
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return file.read().decode("utf-8", "replace")


def _names_in(library):
    with open(library, "rb") as file:
        return sorted({name.decode() for name in _NAME.findall(file.read())})
