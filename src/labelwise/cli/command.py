"""A command as all of ours are: an option that takes one value is given once, and an empty word
names no file."""

from __future__ import annotations

from typing import Any, get_type_hints

import typer.core


class Command(typer.core.TyperCommand):
    """Refuses an option that is given twice: the first of two values would be dropped without a
    word, as that of a second ``--data``. And an empty word in place of a file, as `"$FILE"` is
    where the shell has no such variable: it would be the folder that one stands in."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        values, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for one in given:
            if given.count(one) > 1 and isinstance(one, typer.core.TyperOption) and _single(one):
                more = any(other.name == "more" for other in self.params)
                ctx.fail(
                    f"{one.opts[0]} is given {given.count(one)} times, and takes one value"
                    + ("; further documents go with --more" if more and one.name == "data" else "")
                )
            value = values.get(one.name)
            words = value if isinstance(value, list | tuple) else [value]
            if "" in words and self._names_a_file(one):
                ctx.fail(f"an empty word is given for {one.opts[0]}, and names nothing")
        return super().parse_args(ctx, args)

    def _names_a_file(self, one: Any) -> bool:
        """An argument as a rule, or an option that takes a path."""
        kinds = get_type_hints(self.callback)
        return isinstance(one, typer.core.TyperArgument) or "Path" in str(kinds.get(one.name))


def _single(option: typer.core.TyperOption) -> bool:
    return not (option.multiple or option.is_flag or option.count)
