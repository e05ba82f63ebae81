"""Settings from a TOML file: ``name = value`` a line, checked like ``--set name=value``."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from labelwise.errors import InputError, LabelwiseError
from labelwise.experiments.settings import S, named_in, parse_settings, typed


def read_config(path: Path) -> dict[str, str]:
    """The settings of a file, each value as it would be typed after ``--set name=``."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise InputError("there is no such file of settings", file=path) from error
    except UnicodeDecodeError as error:
        raise InputError("settings are TOML in UTF-8, this file is not", file=path) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML ({error})", file=path) from error
    for name, value in content.items():
        if isinstance(value, dict):
            raise InputError(
                "a file of settings has one `name = value` a line and no [sections]",
                file=path,
                field=name,
            )
    return {
        name: typed(tuple(value) if isinstance(value, list) else value)
        for name, value in content.items()
    }


def settings_from(cls: type[S], method: str, config: Path | None, given: Sequence[str] = ()) -> S:
    """Settings of a file, or the defaults, with what was given on the command line over them."""
    from_file = read_config(config) if config is not None else {}
    assignments = [f"{name}={value}" for name, value in from_file.items()]
    try:
        settings = parse_settings(cls, assignments, method)
    except LabelwiseError as error:
        raise InputError(str(error), file=config) from error
    if not given:
        return settings
    over = {named_in(one) for one in given}
    kept = [one for one in assignments if named_in(one) not in over]
    return parse_settings(cls, [*kept, *given], method)


def find_vectors(name: str, data: Path | None, config: Path | None = None) -> str:
    """The path of a file of vectors that may be named by its bare name.

    It is looked for from here, then beside the settings, in the data set's folder, and in a folder
    ``vectors`` in or beside that. Where it is nowhere the name is given back.
    """
    folders = [Path()]
    if config is not None:
        folders.append(config.parent)
    if data is not None:
        folders += [data, data / "vectors", data.resolve().parent / "vectors"]
    return next((str(at / name) for at in folders if (at / name).is_file()), name)
