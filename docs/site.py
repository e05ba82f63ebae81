"""What the site has besides the pages in this folder: MkDocs calls these functions.

The reference of commands and of settings is made from the program itself, other files of the
repository become pages, links that lead out of this folder lead to the repository, and formulas
between dollar signs become MathML, which browsers show without a script.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

MIRRORED = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "benchmarks.md": "benchmarks/README.md",
    "results/eurlex57k.md": "results/eurlex57k/README.md",
    "results/newlaw-dev.md": "results/newlaw-dev/README.md",
    "results/attention.md": "results/eurlex57k-seventh/attention.md",
}
"""Pages of the site that are files elsewhere in the repository."""

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#:]+)(#[^)\s]*)?\)")
FENCED = re.compile(r"(^```.*?^```$|^(?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made, and the pictures that mirrored pages show."""
    from mkdocs.structure.files import File

    made = {"reference/commands.md": commands(), "reference/settings.md": settings()}
    made |= {page: (ROOT / source).read_text("utf-8") for page, source in MIRRORED.items()}
    for page, content in made.items():
        files.append(File.generated(config, page, content=content))
    for page, source in MIRRORED.items():
        shown = [link[2] for link in LINK.finditer(made[page]) if link[2].endswith(".svg")]
        for picture in dict.fromkeys(shown):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), picture))
            file = File.generated(config, f"pictures/{path}", abs_src_path=str(ROOT / path))
            files.append(file)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Links that lead out of the folder, and formulas."""
    name = page.file.src_uri
    source = MIRRORED.get(name, f"docs/{name}")
    parts = FENCED.split(markdown)
    for at in range(0, len(parts), 2):  # the others are code
        parts[at] = LINK.sub(lambda link: _led(link, source, name, config.repo_url), parts[at])
        if page.meta.get("math"):
            parts[at] = FORMULA.sub(_math, parts[at])
    return "".join(parts)


def _led(link: re.Match[str], source: str, page: str, repository: str) -> str:
    """The link as it leads from the page: to another page, to a picture, or to the repository."""
    before, target, anchor = link[1], link[2], link[3] or ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    pages = {made_of: made for made, made_of in MIRRORED.items()}
    if path in pages:
        led = pages[path]
    elif path.startswith("docs/"):
        led = path.removeprefix("docs/")
    elif source != f"docs/{page}" and path.endswith(".svg"):
        led = f"pictures/{path}"
    elif (ROOT / path).exists():
        return f"{before}{repository}/blob/main/{path}{anchor})"
    else:
        return link[0]  # MkDocs says that it leads nowhere
    return f"{before}{posixpath.relpath(led, posixpath.dirname(page) or '.')}{anchor})"


def _math(formula: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    shown = formula[1] is not None
    return convert(formula[1] or formula[2], display="block" if shown else "inline")


def commands() -> str:
    """Every command with what ``--help`` says of it."""
    import typer

    from labelwise.cli.app import app

    os.environ["COLUMNS"] = "100"
    root = typer.main.get_command(app)
    parts = ["# Commands", "What `labelwise COMMAND --help` says."]
    for path, command in [("labelwise", root), *_below(root, "labelwise")]:
        context = command.context_class(command, info_name=path)
        if path != "labelwise":
            parts.append(f"## {path.removeprefix('labelwise ')}")
        parts.append(f"```text\n{command.get_help(context).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _below(group: Any, path: str) -> list[tuple[str, Any]]:
    found = []
    for name, command in group.commands.items():
        found += (
            [(f"{path} {name}", command), *_below(command, f"{path} {name}")]
            if hasattr(command, "commands")
            else [(f"{path} {name}", command)]
        )
    return found


def settings() -> str:
    """Every method with its settings, from the dataclass beside it."""
    from labelwise.experiments.settings import describe_settings, typed
    from labelwise.methods import REGISTRY, get

    parts = [
        "# Settings of the methods",
        "What `labelwise train METHOD --help-settings` says; each is set by `--set name=value` or "
        "in a file that `--config` names. The settings kept for EURLEX57K are in "
        "[configs/](../../configs/).",
    ]
    for name in REGISTRY:
        method = get(name)
        parts.append(f"## {name}")
        parts.append("| setting | takes | default | meaning |\n| --- | --- | --- | --- |")
        for one in describe_settings(method.Settings):
            cells = [f"`{one['name']}`", one["takes"], f"`{typed(one['default'])}`", one["meaning"]]
            parts[-1] += "\n| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    return "\n\n".join(parts) + "\n"
