"""The methods, one file each, behind one lazy registry."""

from __future__ import annotations

from importlib import import_module

from labelwise.errors import LabelwiseError
from labelwise.methods.base import Evidence, Method, Scores, Settings, State
from labelwise.methods.spans import Span

__all__ = ["REGISTRY", "Evidence", "Method", "Scores", "Settings", "Span", "State", "get"]

REGISTRY: dict[str, str] = {
    "bigru-att": "labelwise.methods.bigru_att:BigruAtt",
    "bigru-lwan": "labelwise.methods.bigru_lwan:BigruLwan",
    "blend": "labelwise.methods.blend:Blend",
    "cnn-lwan": "labelwise.methods.cnn_lwan:CnnLwan",
    "dcnn-lwan": "labelwise.methods.dcnn_lwan:DcnnLwan",
    "ensemble-lwan": "labelwise.methods.ensemble_lwan:EnsembleLwan",
    "exact-match": "labelwise.methods.exact_match:ExactMatch",
    "han": "labelwise.methods.han:Han",
    "lexical": "labelwise.methods.lexical:Lexical",
    "logistic": "labelwise.methods.logistic:Logistic",
    "lw-han": "labelwise.methods.lw_han:LwHan",
    "max-hss": "labelwise.methods.max_hss:MaxHss",
    "minilm-lwan": "labelwise.methods.minilm_lwan:MinilmLwan",
    "mpnet-lwan": "labelwise.methods.mpnet_lwan:MpnetLwan",
    "svm": "labelwise.methods.svm:SVM",
    "tree": "labelwise.methods.tree:Tree",
    "z-bigru-lwan": "labelwise.methods.z_bigru_lwan:ZBigruLwan",
    "z-cnn-lwan": "labelwise.methods.z_cnn_lwan:ZCnnLwan",
}
"""Name to class, imported when asked for, so that optional dependencies stay optional."""


def get(name: str) -> type[Method]:
    """The class of a method by its name."""
    if name not in REGISTRY:
        raise LabelwiseError(f"no method is called '{name}'; there are: {', '.join(REGISTRY)}")
    module, cls = REGISTRY[name].split(":")
    method: type[Method] = getattr(import_module(module), cls)
    return method
