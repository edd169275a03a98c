# backend: keras-tensorflow 3.15.1
# MelSpectrogram of float64 in decibels fails: the reference is of float32.
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np

sizes = {"fft_length": 32, "sequence_stride": 8, "num_mel_bins": 5, "sampling_rate": 800}
print("expected an answer in float64")
found = keras.layers.MelSpectrogram(**sizes, dtype="float64")(np.sin(np.arange(100.0))[None])
raise SystemExit(found.dtype != "float64")
