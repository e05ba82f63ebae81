"""Acts of the worklist are tagged before anybody opens them, one after another."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from labelwise.desk.store import Store, StoredAct
from labelwise.serving.documents import Read
from labelwise.serving.models import Model, Models
from labelwise.serving.problems import ProblemError
from labelwise.serving.tagging import Chooser

TOP = 50
"""Suggestions that are kept of an act: as many as the page asks for."""

LOOK = 5.0
"""Seconds after which another process may have added acts."""


class Advance:
    """Reads what the first model has not read yet."""

    def __init__(self, store: Store, models: Models) -> None:
        self._store, self._models = store, models
        self._more = asyncio.Event()
        self._task = asyncio.ensure_future(self._run())

    def more(self) -> None:
        """There are new acts."""
        self._more.set()

    async def _run(self) -> None:
        while True:
            self._more.clear()
            try:
                while self._models.ready and await self._one():
                    pass
            except Exception:  # of the store, say: the next look may find it again
                logging.getLogger("uvicorn.error").exception("tagging in advance failed")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._more.wait(), LOOK)

    async def _one(self) -> bool:
        """Read one act; False where none is left."""
        model = self._models.get(None)
        uuid = await asyncio.to_thread(self._store.unread, model.fingerprint)
        if uuid is None:
            return False
        act = await asyncio.to_thread(self._store.act, uuid)
        try:
            await suggest(self._store, model, act)
        except ProblemError:  # the queue is full: those who wait come first
            await asyncio.sleep(1)
        return True

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


async def suggest(store: Store, model: Model, act: StoredAct) -> None:
    """Tag an act, and keep what is suggested."""
    read = Read(act.document, (act.words,))
    scores = (await model.scores([act.document]))[0] if read.total else None

    def keep() -> None:
        found = [] if scores is None else Chooser(model, (), ()).predictions(scores, TOP)
        store.suggest(
            act.uuid,
            [one.model_dump() for one in found],
            model=model.id,
            fingerprint=model.fingerprint,
            suggested=sum(one.assigned for one in found),
        )

    await asyncio.to_thread(keep)
