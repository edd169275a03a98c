# backend: torch 2.15.0
# Dividing the smallest integer by -1, rounding toward zero, kills the process with SIGFPE.
import torch

print("expected -9223372036854775808 (it wraps) or an error")
print(torch.div(torch.tensor([-(2**63)]), torch.tensor([-1]), rounding_mode="trunc"))
