"""The worklist of a service: its store, its door, and what is tagged in advance."""

from __future__ import annotations

from dataclasses import dataclass

from labelwise.desk.database import Database
from labelwise.desk.people import People, this_user
from labelwise.desk.store import Store
from labelwise.errors import LabelwiseError
from labelwise.serving.advance import Advance
from labelwise.serving.models import Models
from labelwise.serving.signing_in import Door, Proxy


class Worklist:
    """A store that a service works with."""

    def __init__(self, where: str, *, loopback: bool, proxy: Proxy | None = None) -> None:
        database = Database(where)
        people = People(database)
        self.store = Store(database)
        if not loopback and not people.all():
            raise LabelwiseError(
                "the store has no people, and other machines can reach this service: name some "
                f"with `labelwise desk person {where} NAME`, or listen on 127.0.0.1"
            )
        self.door = Door(people, proxy, this_user() if loopback else None)


@dataclass(frozen=True)
class RunningWorklist:
    """A worklist whose service has begun."""

    store: Store
    door: Door
    advance: Advance

    @classmethod
    def begin(cls, worklist: Worklist, models: Models) -> RunningWorklist:
        return cls(worklist.store, worklist.door, Advance(worklist.store, models))

    async def close(self) -> None:
        await self.advance.close()
        self.store.database.close()
