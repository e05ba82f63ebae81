"""``labelwise serve``: the page for indexers and the REST service."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.progress import note
from labelwise.shipped import NAME

if TYPE_CHECKING:
    from labelwise.serving.models import Servable

LEARNED_ACTS = 1_000
"""Documents that a model remembers which learns while it serves: it takes seconds, not minutes."""


def serve(
    bundles: Annotated[
        list[str] | None,
        typer.Argument(
            help="Folders of trained models, or ID=FOLDER; eurovoc-en and eurovoc-en-small are "
            "those of the package, hf://OWNER/NAME is one on the Hugging Face Hub. The first is "
            "the default model.",
            metavar="BUNDLE",
            show_default=False,
        ),
    ] = None,
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 for other machines too.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar="LABELWISE_API_KEY",
            help="A key that every request must carry. In the variable it is not seen by others.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Threads for the arithmetic of a model; if not given PyTorch chooses, or the "
            "cores are shared by the workers.",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that serve; they share the models' memory.")
    ] = 1,
    max_body: Annotated[
        float, typer.Option(min=0.001, help="Megabytes of a request, and of a file unpacked.")
    ] = 10.0,
    max_documents: Annotated[int, typer.Option(min=1, help="Documents of a request.")] = 100,
    queue: Annotated[
        int, typer.Option(min=1, help="Documents that may wait for a model; then 503.")
    ] = 500,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a request to arrive, and to be answered.")
    ] = 60.0,
    site: Annotated[
        list[str] | None,
        typer.Option(
            help="A name by which a proxy asks for this service; may be given again.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    readers: Annotated[
        int, typer.Option(min=1, help="Processes that read files and long texts.")
    ] = 2,
    thesaurus: Annotated[
        Path | None,
        typer.Option(
            help="SKOS, JSON or CSV file that names the place of each concept.", show_default=False
        ),
    ] = None,
    learn: Annotated[
        bool,
        typer.Option(
            "--learn", help="Models learn from documents that clients send with their subjects."
        ),
    ] = False,
    fetch_from: Annotated[
        list[str] | None,
        typer.Option(
            help="A host that acts may be fetched from by their CELEX numbers; may be repeated. "
            "Without it none is.",
            metavar="HOST",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            help="Keep a worklist: a file of SQLite, made where it is missing, or postgresql://…",
            metavar="STORE",
            show_default=False,
        ),
    ] = None,
    proxy_user_header: Annotated[
        str | None,
        typer.Option(
            help="The header in which a proxy names who signed in there, such as X-Remote-User.",
            metavar="HEADER",
            show_default=False,
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="The address or network of such a proxy; may be given again.",
            metavar="ADDRESS",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve models: a page for indexers, and REST beside it.

    Without a bundle the model of the package is served.

    \b
    Workers and threads. In a worker each model has a thread that scores documents, gathered from
    all requests that wait, and a thread for evidence; --threads says how many cores the arithmetic
    of one batch may take. Texts and files are split in small processes beside it, --readers for
    files and long texts and one for short texts: a slow file holds one of them, and is given up
    after a time that grows with its size. With --workers several processes serve one address; the
    models are loaded once and their memory is shared. A worker that crashes is replaced, and
    SIGHUP loads the models anew and changes the workers without a pause. Limits are those of each
    worker.

    \b
    Limits. What does not fit is refused at once, with a sentence: a body above --max-body or more
    than --max-documents (413), a full --queue (503, with Retry-After), no answer within --timeout
    (504). Memory stays bounded: at most four bodies of --max-body are held at a time, and as much
    of slow senders.

    \b
    Worklist. With --store the page is a desk for a department: acts, who decided what about them,
    a log that only grows. `labelwise desk person` names the people; while there are none, the desk
    is that of whoever runs the service, on this machine alone.

    \b
    Learning. With --learn, POST /v1/projects/ID/learn teaches a model documents and their subjects,
    as Annif's interface has it. It remembers the last thousand, until the service ends. Little is
    gained by it so far, and nothing by a blend (docs/learn.md): measure it by `labelwise replay`.
    `labelwise learn` makes a bundle that stays.

    \b
    Safety. It listens on this machine alone unless --host says otherwise; it speaks plain HTTP, so
    put a proxy with TLS and a key before it when others may reach it. SIGTERM or Ctrl-C ends it
    after it has answered what it accepted.

    \b
    Examples:
      labelwise serve
      labelwise serve svm.bundle zero=z-bigru-lwan.bundle --thesaurus eurovoc.ttl.xz
      labelwise serve --store desk.sqlite
      labelwise serve --fetch-from publications.europa.eu
      LABELWISE_API_KEY=... labelwise serve svm.bundle --host 0.0.0.0 --port 8080
    """
    try:
        from labelwise.serving.fetching import allowed_hosts
        from labelwise.serving.limits import MEGABYTE, Limits
        from labelwise.serving.server import Server, bound
        from labelwise.serving.signing_in import Proxy
        from labelwise.serving.workers import Keeper
    except ImportError as error:
        raise MissingExtraError("the service", "serve") from error

    if thesaurus is not None and not thesaurus.is_file():
        raise LabelwiseError(f"{thesaurus}: there is no such thesaurus file")
    if learn and workers > 1:
        raise typer.BadParameter(
            "--learn goes with one worker: others would not know what it learned"
        )
    limits = Limits(
        max_body=int(max_body * MEGABYTE),
        max_documents=max_documents,
        queue=queue,
        timeout=timeout,
        readers=readers,
        learned_acts=LEARNED_ACTS if learn else 0,
    )
    wanted = _servables(bundles or [NAME])
    make = partial(
        Server,
        host=host,
        port=port,
        limits=limits,
        api_key=api_key or None,
        thesaurus=thesaurus,
        fetch_from=allowed_hosts(fetch_from) if fetch_from else frozenset(),
        threads=threads or (max(1, (os.cpu_count() or 1) // workers) if workers > 1 else None),
        sites=site or (),
        store=store,
        proxy=Proxy.of(proxy_user_header, trusted_proxy or []) if proxy_user_header else None,
    )
    server = Keeper(workers, wanted, make, bound(host, port)) if workers > 1 else make(wanted)
    names = ", ".join(one.id for one in wanted)
    note(f"labelwise serves {names} on {server.address} (Ctrl-C ends it)")
    server.run()


def _servables(named: list[str]) -> list[Servable]:
    """The models to serve. A wrong path is said before anything is started."""
    from labelwise import bundle
    from labelwise.serving.models import servables

    found = servables(named)
    for one in found:
        assert one.folder is not None
        bundle.describe(one.folder)
    return found
