"""The passes of XLA, which two frameworks compile with: their names, and how to switch them off."""

import os
import re
import shutil

DISABLE = "xla_disable_hlo_passes"
DUMP = ("xla_dump_to", "xla_dump_hlo_pass_re")
# A dump's name ends in PIPELINE.after_PASS.before_PASS.txt; it is written after a change.
_STEP = re.compile(r"\.([^.]+)\.after_([^.]+)\.before_([^.]+)\.txt$")
_ENDS = ("pipeline-start", "pipeline-end")


def dumped_passes(folder):
    """Return (passes that changed a module, others that were about to run), from XLA's dumps."""
    changed, others = [], []
    for name in sorted(os.listdir(folder)):
        step = _STEP.search(name)
        if step:
            changed.append(step.group(2))
            others.append(step.group(3))
    changed = _unique(one for one in changed if one not in _ENDS)
    return changed, _unique(one for one in others if one not in _ENDS and one not in changed)


def take_dumped(folder):
    """Return the same, and remove the dumps."""
    try:
        return dumped_passes(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unique(names):
    found = []
    for name in names:
        if name not in found:
            found.append(name)
    return found
