"""The long run of the soundness test: random graphs on random points of the ranges.

usage: soundness.py [GRAPHS]

Prints how many graphs were tried of each kind and how often the rarest operator occurred; fails at
the first value that lies outside of its abstract value. Without an argument as many as make every
operator with an Interval reading occur 500 times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GRAPHS = 300_000


def main() -> int:
    """Run both kinds of graphs."""
    graphs = int(sys.argv[1]) if len(sys.argv) > 1 else GRAPHS
    done = subprocess.run(
        [str(ROOT / "build" / "assay_numeric_test"), "--gtest_filter=Soundness.*"],
        cwd=ROOT,
        env={**os.environ, "ASSAY_SOUNDNESS_GRAPHS": str(graphs)},
        check=False,
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
