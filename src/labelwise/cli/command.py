"""A command as all of ours are: an option that takes one value is given once."""

from __future__ import annotations

from typing import Any

import typer.core


class Command(typer.core.TyperCommand):
    """Refuses an option that is given twice: the first of two values would be dropped without a
    word, as that of a second ``--data``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for one in given:
            if given.count(one) > 1 and isinstance(one, typer.core.TyperOption) and _single(one):
                more = any(other.name == "more" for other in self.params)
                ctx.fail(
                    f"{one.opts[0]} is given {given.count(one)} times, and takes one value"
                    + ("; further documents go with --more" if more and one.name == "data" else "")
                )
        return super().parse_args(ctx, args)


def _single(option: typer.core.TyperOption) -> bool:
    return not (option.multiple or option.is_flag or option.count)
