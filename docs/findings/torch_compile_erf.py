# backend: torch 2.15.0
# The error function keeps six digits beside 1 when compiled, and none of 1e-7.
import torch

x = torch.full((16,), 1e-7)
found, expected = torch.compile(torch.erf)(x)[0], torch.erf(x)[0]
print("expected", expected.item(), "found", found.item())
raise SystemExit(bool((found - expected).abs() > 0.01 * expected))
