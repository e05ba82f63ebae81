"""A method that stands around a trained one: it bears its name and settings, and is saved as it."""

from __future__ import annotations

from typing import Any, cast

from labelwise.methods.base import Method, Scores


class Around(Method):
    """What is the same for all that stand around a method; a subclass changes its scores."""

    def __init__(self, method: Method) -> None:
        super().__init__(method.settings)
        own = cast(Any, self)  # what is one for all methods of a class is the method's own here
        own.name, own.deterministic = method.name, method.deterministic
        self.half_precision = method.half_precision
        self.method, self.threshold = method, method.threshold

    @property
    def parts(self) -> tuple[Method, ...]:
        return (self.method,)

    @property
    def max_tokens(self) -> int | None:
        return self.method.max_tokens

    def placed(self, scores: Scores) -> Scores:
        """As they are: the method puts its own unseen labels on the scale of the others."""
        return scores
