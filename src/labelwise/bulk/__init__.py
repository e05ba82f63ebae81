"""Tagging in bulk: more documents than one call or one machine should hold.

The input is gone through in runs of documents, its *parts*. A part is tagged whole and written
whole, under a name that tells where in the input it begins; a part that is there is not tagged
again. So a run that was killed goes on where it stood, and several shards share one input: nothing
is missing, and nothing is there twice.
"""

from labelwise.bulk.tagger import Tagger

__all__ = ["Tagger"]
