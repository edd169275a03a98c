# backend: torch 2.14.0
# AveragePool gives 2 where 4 is right; 1 of 2 elements are wrong.
# Known as: padding-is-counted.
import numpy as np
import torch

X = torch.from_numpy(np.array([4.0, 6.0], np.float32).reshape(1, 1, 2))
found = [torch.nn.functional.avg_pool1d(X, [2], [1], [1]).numpy()]
value = float(np.ravel(found[0])[0])
print("expected 4.0 at element 0, found", value)
raise SystemExit(bool(value != 4.0))
