"""labelwise: tags documents with concepts from a large thesaurus and shows why.

import labelwise

model = labelwise.load()
for tag in model.tag("On imports of citrus fruit from Morocco ...", evidence=True):
    print(tag.rank, tag.descriptor, tag.score)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelwise.corpus.readers import read
    from labelwise.evaluation.comparison import Comparison
    from labelwise.evaluation.runs import Run
    from labelwise.experiments.compare import compare
    from labelwise.experiments.evaluate import evaluate
    from labelwise.experiments.join import join
    from labelwise.experiments.learn import learn
    from labelwise.experiments.train import train
    from labelwise.model import Model, Tag, Tagging, load

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Model",
    "Run",
    "Tag",
    "Tagging",
    "__version__",
    "compare",
    "evaluate",
    "join",
    "learn",
    "load",
    "read",
    "train",
]

_WHERE = {
    "Comparison": "labelwise.evaluation.comparison",
    "Run": "labelwise.evaluation.runs",
    "compare": "labelwise.experiments.compare",
    "evaluate": "labelwise.experiments.evaluate",
    "join": "labelwise.experiments.join",
    "learn": "labelwise.experiments.learn",
    "read": "labelwise.corpus.readers",
    "train": "labelwise.experiments.train",
}
"""Modules of what is not in ``labelwise.model``."""


def __getattr__(name: str) -> Any:
    """What the front door offers is imported when it is asked for: `import labelwise` is free."""
    if name not in __all__:
        raise AttributeError(f"module 'labelwise' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_WHERE.get(name, "labelwise.model")), name)


def __dir__() -> list[str]:
    """With what was not imported yet: a shell completes `labelwise.` by it."""
    return sorted({*globals(), *__all__})
