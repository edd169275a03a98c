# backend: torch 2.15.0
# The remainder of a division by infinity is NaN when compiled, and right when not.
import torch

x, by = torch.tensor([3.0, -3.0] * 8), torch.tensor([float("inf"), float("-inf")] * 8)
found = torch.compile(torch.remainder)(x, by)
print("expected", torch.remainder(x, by)[:2], "found", found[:2])
raise SystemExit(bool(found.isnan().any()))
