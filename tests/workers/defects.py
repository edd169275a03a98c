"""The defects that can be planted; each is a mistake that some framework has made."""

import defects_fused  # noqa: F401
import defects_layers  # noqa: F401
import defects_math  # noqa: F401
import defects_shape  # noqa: F401
from planting import DEFECTS

__all__ = ["DEFECTS"]
