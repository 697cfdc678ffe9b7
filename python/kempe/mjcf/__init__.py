"""Robots from MJCF, the format of MuJoCo. Needs the package mujoco: pip install "kempe[mjcf]".

MuJoCo's own compiler resolves defaults, includes, angles, meshes and inertias; Kempe reads the
compiled model. kempe.load() and kempe.read_mechanism() call this for MJCF files.
"""

from kempe.mjcf.actuators import Actuator
from kempe.mjcf.loading import load
from kempe.mjcf.model import MjcfMechanism, MjcfModel
from kempe.mjcf.reader import read_mjcf

__all__ = ["Actuator", "MjcfMechanism", "MjcfModel", "load", "read_mjcf"]
