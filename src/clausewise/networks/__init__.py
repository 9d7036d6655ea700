"""Trained networks of any framework behind one interface: rows in, classes and hidden activations out."""

from clausewise.networks.arrays import ArrayNetwork
from clausewise.networks.callables import CallableNetwork
from clausewise.networks.detect import wrap
from clausewise.networks.network import Network
from clausewise.networks.protocol import Layer, NetworkBackend, Structure, Tensor
from clausewise.networks.selection import LayerChoice

__all__ = [
    "ArrayNetwork",
    "CallableNetwork",
    "Layer",
    "LayerChoice",
    "Network",
    "NetworkBackend",
    "Structure",
    "Tensor",
    "wrap",
]
