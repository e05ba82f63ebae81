"""What the service accepts at most. Every one of these bounds memory or time."""

from __future__ import annotations

from dataclasses import dataclass

from labelwise.errors import LabelwiseError

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """The first four, ``readers`` and ``learned_acts`` are set on the command line; the others
    follow from experience."""

    max_body: int = 10 * MEGABYTE
    """Bytes of a request, and of a file after unpacking."""
    max_documents: int = 100
    """Documents of a request."""
    queue: int = 500
    """Documents of one model that wait or are being read; beyond it the answer is 503."""
    timeout: float = 60.0
    """Seconds for a body to arrive, and again for an answer to begin."""

    max_batch: int = 32
    """Documents that a model reads at a time."""
    max_wait: float = 0.003
    """Seconds that a document waits for others to be read with."""
    batch_characters: int = 2_000_000
    """Characters that a model reads at a time: a few very long acts fill a batch."""
    requests: int = 256
    """Requests that have arrived and are being answered at a time."""
    prompt: float = 2.0
    """Seconds for a body to arrive; after them it is that of a slow sender."""
    slow: int = 64
    """Slow senders at a time."""
    connections: int = 1_000
    """Open connections."""
    silence: float = 20.0
    """Seconds for the head of a request to arrive, and for a client to take some of an answer."""
    explanations: int = 32
    """Requests for evidence, comparison of words or unseen concepts that wait for one model."""
    readings: int = 32
    """Files and texts that wait to be split into sections."""
    readers: int = 2
    """Processes that read files and long texts, besides the one for short texts."""
    learned_acts: int = 0
    """Documents that each model remembers of those it is taught over REST; 0: it does not learn."""

    def __post_init__(self) -> None:
        for name in ("max_body", "max_documents", "queue", "timeout", "readers"):
            if not getattr(self, name) > 0:
                raise LabelwiseError(f"{name} must be above 0, not {getattr(self, name):g}")
        if self.max_documents > self.queue:
            raise LabelwiseError(
                f"a queue of {self.queue} can never take a request of {self.max_documents} "
                "documents: raise the queue or lower max_documents"
            )

    @property
    def held(self) -> int:
        """Bytes of bodies held at a time, whoever sends them, and as many of slow senders."""
        return 4 * self.max_body
