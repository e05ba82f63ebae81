"""What the routes share: models, limits, the reader, and the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from labelwise.serving.documents import Reader
from labelwise.serving.fetching import Fetcher
from labelwise.serving.limits import Limits
from labelwise.serving.metrics import Metrics
from labelwise.serving.models import Models
from labelwise.serving.worklist import RunningWorklist


@dataclass(frozen=True)
class Service:
    models: Models
    limits: Limits
    reader: Reader
    metrics: Metrics
    fetcher: Fetcher | None
    """None: no act is fetched."""
    desk: RunningWorklist | None
    """None: nothing is kept."""

    @property
    def worklist(self) -> RunningWorklist:
        """That of a service with a store: no other has routes that ask for it."""
        assert self.desk is not None
        return self.desk


async def _service(request: Request) -> Service:  # what is not async is run on a thread
    found: Service = request.app.state.service
    return found


Here = Annotated[Service, Depends(_service)]
"""A route's parameter of this type is the service that it belongs to."""
