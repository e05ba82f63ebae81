"""``labelwise export``: a trained network as a file for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from labelwise.cli.options import JsonOption
from labelwise.cli.output import print_json, print_table
from labelwise.errors import LabelwiseError
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.methods.base_network import BaseNetworkMethod

FAR = 0.01
"""A score of a file in float32 that is further from the bundle's own is wrong, not rounded."""


def export(
    bundle: Annotated[
        Path, typer.Argument(help="A network, as `labelwise train` writes it.", metavar="BUNDLE")
    ],
    *,
    onnx: Annotated[
        Path | None,
        typer.Option(help="Write an ONNX model, with its labels and words inside.", metavar="FILE"),
    ] = None,
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Weights in 8 bits: smaller and faster, slightly less exact."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file where there is one already.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a trained network as a file that runs without labelwise and PyTorch.

    The scores of the file are compared with those of the bundle before the command ends.

    \b
    Examples:
      labelwise export bigru-lwan.bundle --onnx bigru-lwan.onnx
      labelwise export bigru-lwan.bundle --onnx bigru-lwan-small.onnx --int8
      labelwise export minilm.bundle --onnx minilm.onnx
    """
    if onnx is None:
        raise LabelwiseError(
            "choose a format: --onnx FILE.onnx writes an ONNX model; there is no other yet"
        )
    _check_place(onnx, force)
    from labelwise import bundle as bundles
    from labelwise.experiments.data import refuse_relabelled
    from labelwise.export.onnx_file import check_exportable, write_onnx

    about = bundles.describe(bundle)
    check_exportable(about["method"])
    refuse_relabelled(bundle, about["card"], "export the bundle it was made from")
    from labelwise.export.parity import largest_difference

    method = cast("BaseNetworkMethod", bundles.load(bundle))
    size = write_onnx(method, onnx, int8=int8)
    difference = largest_difference(method, onnx)
    if difference > FAR and not int8:
        onnx.unlink()
        raise LabelwiseError(
            f"{onnx} would score otherwise than {bundle}, by up to {difference:.2g}, and was not "
            "kept: that is a fault of labelwise, not of the bundle"
        )
    if as_json:
        print_json(
            {
                "method": method.name,
                "labels": len(method.label_space),
                "words": len(method.vocabulary),
                "file": str(onnx),
                "bytes": size,
                "int8": int8,
                "largest_difference": difference,
            }
        )
        return
    print_table(
        ["method", "labels", "words", "MB", "largest difference", "file"],
        [
            [
                method.name,
                f"{len(method.label_space):,}",
                f"{len(method.vocabulary):,}",
                f"{size / 1e6:.1f}",
                f"{difference:.1g}",
                onnx,
            ]
        ],
        left=("method", "file"),
    )
    note("The difference is that to the bundle's scores in float32, on a few made-up documents.")


def _check_place(path: Path, force: bool) -> None:
    """Refuse before the bundle is loaded, not after it, where the file could not be written."""
    if path.is_dir():
        raise LabelwiseError(
            f"{path} is a folder: name the file to write, such as {path}/model.onnx"
        )
    if path.exists() and not force:
        raise LabelwiseError(
            f"{path} exists already: choose another name, or replace it with --force"
        )
    if not path.parent.is_dir():
        raise LabelwiseError(f"{path}: there is no folder {path.parent}: make it first")
