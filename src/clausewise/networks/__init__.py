"""Trained networks of any framework, seen in one way: rows in, classes and hidden activations out."""

from clausewise.networks.arrays import ArrayNetwork
from clausewise.networks.callables import CallableNetwork
from clausewise.networks.detect import wrap
from clausewise.networks.network import Network
from clausewise.networks.protocol import Backend, Layer, Structure, Tensor
from clausewise.networks.selection import LayerChoice

__all__ = [
    "ArrayNetwork",
    "Backend",
    "CallableNetwork",
    "Layer",
    "LayerChoice",
    "Network",
    "Structure",
    "Tensor",
    "wrap",
]
