"""Which labels have the same broader concept: what the loss ``hbm`` ranks among each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError


def siblings(space: LabelSpace, thesaurus: Thesaurus | None) -> NDArray[np.int64]:
    """The number of each label's group, (L,), from 0 in the order of the labels.

    A label is in one group, so that all count alike: below the first of its broader concepts, which
    ``Thesaurus.broader_chain`` follows as well. Labels without one, known or not, are a group
    together, as if the root were above them.

    >>> from labelwise.corpus.thesaurus import Concept
    >>> thesaurus = Thesaurus.of([
    ...     Concept("1", "", "fruit"), Concept("2", "", "apple", broader=("1",)),
    ...     Concept("3", "", "pear", broader=("1",)), Concept("4", "", "tax"),
    ... ])
    >>> space = LabelSpace.from_documents([], [], {}).with_labels(thesaurus.descriptors)
    >>> dict(zip(space.ids, siblings(space, thesaurus).tolist(), strict=True))
    {'1': 0, '2': 1, '3': 1, '4': 0}
    """
    concepts = thesaurus.concepts if thesaurus else {}
    known = [concepts[id].broader if id in concepts else () for id in space.ids]
    if not any(known):
        raise LabelwiseError(
            "the loss hbm ranks labels that have the same broader concept, and no label here has "
            "one: give a thesaurus with broader links (a corpus in numbers keeps that of its data "
            "set), or set the loss bce or zlpr"
        )
    above = [links[0] if links else None for links in known]
    numbers = {one: at for at, one in enumerate(dict.fromkeys(above))}
    return np.array([numbers[one] for one in above], dtype=np.int64)
