"""Writes Keras files that are wrong inside: usage: break_files.py FOLDER, with Keras 3 and h5py."""

import json
import os
import sys
import zipfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import h5py
import keras
import numpy as np
from keras import layers

FOLDER = Path(sys.argv[1])


def path(name):
    return FOLDER / name


def copy(name, change):
    """Write sound.h5 again under another name, changed."""
    path(name).write_bytes(path("sound.h5").read_bytes())
    with h5py.File(path(name), "r+") as file:
        change(file)


def replace(file, array):
    group = file["model_weights/first/first"]
    del group["kernel"]
    group["kernel"] = array


def config(name, change):
    """Write sound.keras again with another config."""
    with zipfile.ZipFile(path("sound.keras")) as old, zipfile.ZipFile(path(name), "w") as new:
        for entry in old.namelist():
            text = old.read(entry)
            if entry == "config.json":
                described = json.loads(text)
                change(described["config"]["layers"])
                text = json.dumps(described)
            new.writestr(entry, text)


def circle(described):
    described[1]["inbound_nodes"][0]["args"][0]["config"]["keras_history"] = ["second", 0, 0]


def undefined(described):
    described[2]["inbound_nodes"][0]["args"][0]["config"]["keras_history"] = ["nobody", 0, 0]


def custom(described):
    described[1].update(module=None, registered_name="mine>Special", class_name="Special")


def python_code(described):
    described[1].update(class_name="Lambda")


def bomb(file):
    group = file["model_weights/first/first"]
    del group["kernel"]
    group.create_dataset("kernel", (1 << 20, 1 << 20), "f4", chunks=(1024, 1024))


def outside(file):
    group = file["model_weights/first/first"]
    del group["kernel"]
    group["kernel"] = h5py.ExternalLink("/etc/passwd", "kernel")


def fewer(file):
    group = file["model_weights/first"]
    group.attrs["weight_names"] = list(group.attrs["weight_names"])[:1]


x = keras.Input((4,), name="x")
model = keras.Model(x, layers.Dense(2, name="second")(layers.Dense(3, name="first")(x)))
model.save(path("sound.h5"))
model.save(path("sound.keras"))
copy("shape.h5", lambda file: replace(file, np.zeros((4, 2), "f4")))
copy("type.h5", lambda file: replace(file, np.zeros((4, 3), "i4")))
copy("fewer.h5", fewer)
copy("missing.h5", lambda file: file["model_weights/first/first"].pop("kernel"))
copy("bomb.h5", bomb)
copy("outside.h5", outside)
copy("no_config.h5", lambda file: file.attrs.pop("model_config"))
copy("bad_config.h5", lambda file: file.attrs.modify("model_config", '{"class_name": '))
config("circle.keras", circle)
config("undefined.keras", undefined)
config("custom.keras", custom)
config("lambda.keras", python_code)
