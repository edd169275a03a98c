"""Trains a small convolutional network in PyTorch and exports it.

usage: train_torch.py DATA.npz MODEL.onnx OUTPUTS.npz PACKAGES
"""

import sys

import numpy as np
import torch
from torch import nn

sys.path.append(sys.argv[4])  # the exporter needs the onnx package, which the environment lacks

data = np.load(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(0)
network = nn.Sequential(
    nn.Unflatten(1, (1, 8, 8)),
    nn.Conv2d(1, 8, 3),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(72, 10),
    nn.Softmax(1),
)
images, labels = torch.tensor(data["train"]), torch.tensor(data["train_labels"])
optimizer = torch.optim.Adam(network.parameters(), 0.02)
for _ in range(40):
    optimizer.zero_grad()
    nn.functional.nll_loss(torch.log(network(images) + 1e-9), labels).backward()
    optimizer.step()
network.eval()
with torch.no_grad():
    np.savez(sys.argv[3], Y=network(torch.tensor(data["X"])).numpy())
torch.onnx.export(
    network,
    (images[:2],),
    sys.argv[2],
    dynamo=False,
    input_names=["X"],
    output_names=["Y"],
    dynamic_axes={"X": {0: "batch"}, "Y": {0: "batch"}},
)
