"""The paper's parts: word encoders, attention, decoders. Shapes are in the comments.

D documents, S sections (a flat method reads a document as one), T tokens of the longest of them,
K sections of the longest document, E width of a word vector, H width of an encoded token, L labels.
Padding follows what is real, and takes no part in anything.
"""

from labelwise.layers.attention import SelfAttention, TanhAttention
from labelwise.layers.cnn import CNN
from labelwise.layers.descriptors import Descriptors
from labelwise.layers.dilated_cnn import DilatedCNN
from labelwise.layers.dropout import SequenceDropout
from labelwise.layers.embedding import Embedding
from labelwise.layers.gru import BiGRU
from labelwise.layers.labels import LabelUnits, LabelWise, prior_logits
from labelwise.layers.masking import is_real
from labelwise.layers.sections import is_highest, max_over_sections, pad_sections

__all__ = [
    "CNN",
    "BiGRU",
    "Descriptors",
    "DilatedCNN",
    "Embedding",
    "LabelUnits",
    "LabelWise",
    "SelfAttention",
    "SequenceDropout",
    "TanhAttention",
    "is_highest",
    "is_real",
    "max_over_sections",
    "pad_sections",
    "prior_logits",
]
