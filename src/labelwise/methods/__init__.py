"""The methods, one file each, behind one lazy registry."""

from __future__ import annotations

from importlib import import_module

from labelwise.errors import LabelwiseError
from labelwise.methods.base import Evidence, Method, Scores, Settings, Span, State

__all__ = ["REGISTRY", "Evidence", "Method", "Scores", "Settings", "Span", "State", "get"]

REGISTRY: dict[str, str] = {
    "exact-match": "labelwise.methods.exact_match:ExactMatch",
    "logistic": "labelwise.methods.logistic:Logistic",
    "svm": "labelwise.methods.svm:SVM",
    "tree": "labelwise.methods.tree:Tree",
}
"""Name to class, imported when asked for, so that optional dependencies stay optional."""


def get(name: str) -> type[Method]:
    """The class of a method by its name."""
    if name not in REGISTRY:
        raise LabelwiseError(f"no method is called '{name}'; there are: {', '.join(REGISTRY)}")
    module, cls = REGISTRY[name].split(":")
    method: type[Method] = getattr(import_module(module), cls)
    return method
