"""A store in a file of SQLite, and the same store in PostgreSQL where Debian's server is there."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk_cases import store_with

from labelwise.desk.store import Store

BIN = Path("/usr/lib/postgresql")
IDS = ("32001R0012", "32019R0532", "32020D0001")


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of our own, which listens in a folder alone."""
    pytest.importorskip("psycopg", reason="needs psycopg (extra postgres)")
    found = sorted(BIN.glob("*/bin/initdb"))
    if not found:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    programs = found[-1].parent
    # The server refuses to run as root, and its folder must be within reach of who runs it.
    folder = Path("/tmp") / f"labelwise-pg-{os.getpid()}"
    folder.mkdir(mode=0o755)
    as_user: list[str] = []
    if os.geteuid() == 0:
        account = pwd.getpwnam("postgres")
        os.chown(folder, account.pw_uid, account.pw_gid)
        as_user = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}"]
        as_user.append("--clear-groups")

    def run(program: str, *arguments: str) -> None:
        command = [*as_user, str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=120)

    try:
        run("initdb", "-U", "desk", "--auth=trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql:///postgres?host={folder}&user=desk"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def empty_postgresql(postgresql: str) -> str:
    """The same server without tables."""
    import psycopg

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return postgresql


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store may lie."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("empty_postgresql"))
    return str(tmp_path / "desk.sqlite")


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    """A store with three acts."""
    made = store_with(where, IDS)
    yield made
    made.database.close()
