"""labelwise: tags documents with concepts from a large thesaurus and shows why."""

__version__ = "0.1.0"
