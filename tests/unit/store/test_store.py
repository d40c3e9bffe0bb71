# SPDX-License-Identifier: Apache-2.0
"""Results survive, whatever ends the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateTable

from weir.results.fingerprint import differences
from weir.results.result import Case, Fingerprint, MachineBest, Result, Setup, Throughput, Trial
from weir.store import listing
from weir.store.database import NoStoreError, StoreError, default_location
from weir.store.store import Store
from weir.store.tables import Base


def fingerprint(**changed: object) -> Fingerprint:
    fields: dict[str, object] = {
        "cpu": "AMD EPYC",
        "cores": 2,
        "kernel": "6.1.0",
        "cmdline": "quiet",
        "governor": "none",
        "smt": "off",
        "isolated": "",
        "numa_nodes": 1,
        "hugepages_2m": 1536,
        "memory": "24 GiB",
        "hypervisor": "kvm",
        "tsc_hz": 2_500_000_000,
        "offloads": "off",
        "versions": {"dpdk": "22.11", "weir": "0.1"},
    }
    return Fingerprint.model_validate({**fields, **changed})


def run(run_id: str = "switching-1", lab: str = "switching") -> Result:
    return Result(
        weir="0.1",
        id=run_id,
        lab=lab,
        title="A lab",
        quick=True,
        spec_sha256="0" * 64,
        seed=1,
        started_at="2026-11-21T06:00:00Z",
        baseline="linux-bridge",
        fingerprint=fingerprint(),
        spec={"name": lab},
    )


def trial(load_pps: float = 1e6) -> Trial:
    return Trial(
        purpose="search",
        intended_load_pps=load_pps,
        intended_duration_s=1,
        duration_s=1,
        intended=10,
        offered=10,
        delivered=10,
        loss_ratio=0,
        valid=True,
    )


def setup() -> Setup:
    return Setup(technology="direct", chain="PVP", datapath="none")


def case(frame: str = "64") -> Case:
    found = Throughput(goal="NDR", goal_loss_ratio=0, status="found", load_pps=1e6)
    return Case(
        frame=frame, mean_frame_bytes=64, throughput=[found], trials=[trial()], curve=[trial(1), trial(2)]
    )


def listed(store: Store) -> list[str]:
    """Oldest first."""
    return [one.id for one in reversed(listing.runs(store))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "results.db"


def test_a_run_is_loaded_as_it_was_stored(path: Path) -> None:
    result = run()
    with Store(path) as store:
        store.begin(result)
        number = store.add_setup(result.id, setup())
        store.add_case(number, case("64"))
        store.add_case(number, case("512"))
        store.update(result.model_copy(update={"finished_at": "2026-11-21T06:05:00Z", "seconds": 300.0}))
    with Store(path) as store:
        loaded = store.load("switching-1")
    assert loaded.seconds == 300
    assert loaded.setups == [setup().model_copy(update={"cases": [case("64"), case("512")]})]


def test_trials_of_an_unfinished_case_are_there_and_say_so(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
        number = store.add_setup("switching-1", setup())
        store.add_trial(number, "64", 64.0, trial(1))
        store.add_trial(number, "64", 64.0, trial(2))
        unfinished = store.load("switching-1").setups[0].cases[0]
        assert [one.intended_load_pps for one in unfinished.trials] == [1, 2]
        assert unfinished.problem == "The run ended before this case was finished."
        store.add_case(number, case("64"))
        assert store.load("switching-1").setups[0].cases == [case("64")]


def test_what_was_stored_survives_kill_9(path: Path) -> None:
    program = (
        "import sys, time\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_store import Store, run, setup, trial\n"
        f"store = Store({str(path)!r})\n"
        "store.begin(run())\n"
        "number = store.add_setup('switching-1', setup())\n"
        "store.add_trial(number, '64', 64.0, trial(7))\n"
        "print('stored', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stored\n"
        os.kill(process.pid, signal.SIGKILL)
    with Store(path) as store:
        assert store.load("switching-1").setups[0].cases[0].trials == [trial(7)]


def test_weirs_that_begin_at_once_make_one_store(path: Path) -> None:
    stores = [path.with_name(f"{number}.db") for number in range(20)]
    with multiprocessing.get_context("spawn").Pool(6) as pool:
        for each in stores:
            assert pool.map(opened, [each] * 6, chunksize=1) == [str(each)] * 6


def opened(path: Path) -> str:
    with Store(path) as store:
        return store.name


def test_the_latest_run_is_found_and_all_are_listed(path: Path) -> None:
    with Store(path) as store:
        assert store.latest() is None
        for one in (run("a-1", "a"), run("b-1", "b"), run("a-2", "a")):
            store.begin(one)
        assert store.latest() == run("a-2", "a")
        assert listed(store) == ["a-1", "b-1", "a-2"]


def test_a_run_is_found_by_the_beginning_of_its_id_if_only_one_has_it(path: Path) -> None:
    with Store(path) as store:
        store.begin(run("switching-1a"))
        store.begin(run("switching-1b"))
        assert store.load("switching-1b").id == "switching-1b"
        with pytest.raises(StoreError, match="2 runs begin with 'switching'"):
            store.load("switching")
        with pytest.raises(StoreError, match="no run 'other'; expected one of switching-1b, switching-1a"):
            store.load("other")


def test_an_id_is_used_once(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
        with pytest.raises(StoreError, match="has a run switching-1 already"):
            store.begin(run())


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    path.write_text("these are notes, not a database\n" * 100)
    with pytest.raises(StoreError, match="move it away"):
        Store(path)
    assert path.read_text().startswith("these are notes")


def test_a_damaged_database_is_refused(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"results\.db"), Store(path) as store:
        store.load("switching-1")


def test_a_database_of_a_newer_weir_is_refused(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE weir_schema SET version = 9")
    connection.close()
    with pytest.raises(StoreError, match="schema 9; this one reads up to 2"):
        Store(path)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="choose another place with --store"):
        Store(tmp_path / "file" / "results.db")


def test_reading_finds_no_store_and_makes_none(tmp_path: Path) -> None:
    for place in (tmp_path / "results.db", tmp_path / "no" / "such" / "results.db"):
        with pytest.raises(
            NoStoreError, match=r"there is no store at .*; `weir run LAB` makes one"
        ) as refused:
            Store(place, reading=True)
        assert refused.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_our_tables_is_no_store_to_read(tmp_path: Path) -> None:
    (tmp_path / "results.db").write_bytes(b"")
    with pytest.raises(NoStoreError, match="has no tables of a store"):
        Store(tmp_path / "results.db", reading=True)
    assert (tmp_path / "results.db").read_bytes() == b""


def test_reading_leaves_nothing_beside_the_store(tmp_path: Path) -> None:
    path = tmp_path / "a store?#%.db"
    with Store(path) as store:
        store.begin(run())
    with Store(path, reading=True) as store:
        assert listed(store) == ["switching-1"]
        with pytest.raises(StoreError, match="readonly"):
            store.begin(run("switching-2"))
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_written_now_is_read_now(path: Path) -> None:
    with Store(path) as store:
        store.begin(run("a-1", "a"))
        with Store(path, reading=True) as reader:
            store.begin(run("b-1", "b"))
            assert listed(reader) == ["a-1", "b-1"]


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
def test_a_user_who_may_only_read_can_read() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "results.db"
        with Store(path) as store:
            store.begin(run())
            assert listed_by_nobody(path) == ["switching-1"]
        assert listed_by_nobody(path) == ["switching-1"]
        assert list(Path(folder).iterdir()) == [path]


def listed_by_nobody(path: Path) -> list[str]:
    os.seteuid(65534)
    try:
        with Store(path, reading=True) as store:
            return listed(store)
    finally:
        os.seteuid(0)


def test_a_run_that_cannot_be_read_does_not_hide_the_others(path: Path) -> None:
    with Store(path) as store:
        for one in (run("a-1", "a"), run("b-1", "b"), run("c-1", "c")):
            store.begin(one)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE weir_run SET version = 99 WHERE id = 'b-1'")
        connection.execute("UPDATE weir_run SET document = 'no' WHERE id = 'c-1'")
    connection.close()
    with Store(path, reading=True) as store:
        damaged, newer, first = listing.runs(store)
        with pytest.raises(StoreError, match="run c-1 is not as this Weir writes it"):
            store.load("c-1")
    assert (first.id, first.unreadable) == ("a-1", None)
    assert (newer.id, newer.lab) == ("b-1", "b")
    assert newer.unreadable == "a newer Weir wrote it: version 99; this one reads up to 3"
    assert damaged.lab == "c"


def test_an_unknown_kind_of_database_is_refused() -> None:
    with pytest.raises(StoreError, match="no driver"):
        Store("nosuch://host/database")


def test_the_tables_can_be_made_in_postgresql() -> None:
    dialect = make_url("postgresql://").get_dialect()()
    for table in Base.metadata.sorted_tables:
        assert "CREATE TABLE weir_" in str(CreateTable(table).compile(dialect=dialect))


def test_the_default_place_is_the_user_s_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEIR_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_location() == "/data/weir/results.db"
    monkeypatch.setenv("WEIR_STORE", "/elsewhere.db")
    assert default_location() == "/elsewhere.db"


def test_fingerprints_that_differ_say_in_what() -> None:
    other = fingerprint(kernel="6.9.0", isolated="1", versions={"dpdk": "23.11", "weir": "0.1", "ovs": "3.1"})
    assert differences(fingerprint(), other) == [
        "The kernel differs: 6.1.0 and 6.9.0.",
        "The list of isolated cores differs: none and 1.",
        "The version of dpdk differs: 22.11 and 23.11.",
        "The version of ovs differs: none and 3.1.",
    ]


def test_the_same_machine_after_a_reboot_has_the_same_fingerprint() -> None:
    assert differences(fingerprint(), fingerprint(tsc_hz=2_500_000_123)) == []


def test_the_machines_best_is_of_all_runs_of_one_boot_and_version(tmp_path: Path) -> None:
    def machine(boot: str, pace: float, distance: float) -> MachineBest:
        return MachineBest(boot_id=boot, piece_cycles={0: pace}, distances_cycles={"0-1": distance})

    with Store(tmp_path / "results.db") as store:
        assert store.machine_best("now", "0.1") == MachineBest(boot_id="now")
        for number, known in enumerate(
            (machine("now", 600, 1300), machine("now", 650, 260), machine("before", 500, 200), None)
        ):
            store.begin(run(f"switching-{number}").model_copy(update={"machine": known}))
        assert store.machine_best("now", "0.1") == machine("now", 600, 260)
        assert store.machine_best("now", "0.2") == MachineBest(boot_id="now")


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
@pytest.mark.parametrize(("reading", "what"), [(True, "read"), (False, "written to")])
def test_a_store_of_another_user_says_whose_it_is_and_what_to_do(reading: bool, what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        Store(path).close()
        path.chmod(0o600)
        Path(folder).chmod(0o755)
        os.seteuid(65534)
        try:
            with pytest.raises(StoreError) as caught:
                Store(path, reading=reading)
        finally:
            os.seteuid(0)
    said = str(caught.value)
    assert said.startswith(f"{path}: cannot be {what} by ")
    assert "it belongs to root (mode 600)" in said
    assert "sudo -u root" in said
    assert "--store or $WEIR_STORE" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
def test_a_store_in_a_closed_folder_says_so() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        Store(path).close()
        os.seteuid(65534)
        try:
            with pytest.raises(
                StoreError, match="a folder on the way to it is closed; run this as its owner"
            ):
                Store(path, reading=True)
        finally:
            os.seteuid(0)


def test_a_full_disk_is_a_clear_error_and_leaves_the_store_sound(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
        number = store.add_setup("switching-1", setup())
        store.add_trial(number, "64", 64.0, trial(1))
        with store.session() as session:  # of the pool's one connection: SQLite says it as it does of a disk
            pages = session.connection().exec_driver_sql("PRAGMA page_count").scalar()
            session.connection().exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            session.commit()
        big = trial(2).model_copy(update={"invalid_because": ["x" * 100_000]})
        with pytest.raises(StoreError, match="full; make room on the disk"):
            store.add_trial(number, "64", 64.0, big)
        with pytest.raises(StoreError, match="full; make room on the disk"):
            store.add_case(number, case("64").model_copy(update={"trials": [trial(1), big]}))
    with Store(path) as store:
        assert store.load("switching-1").setups[0].cases[0].trials == [trial(1)]
        store.add_trial(number, "64", 64.0, big)
        assert store.load("switching-1").setups[0].cases[0].trials == [trial(1), big]
        with store.session() as session:
            assert session.connection().exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_two_that_write_at_once_both_have_all(path: Path) -> None:
    def write(name: str) -> None:
        with Store(path) as store:
            store.begin(run(name))
            number = store.add_setup(name, setup())
            for load in range(20):
                store.add_trial(number, "64", 64.0, trial(load))

    both = [threading.Thread(target=write, args=(f"run-{number}",)) for number in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    with Store(path, reading=True) as store:
        assert sorted((one.id, one.trials) for one in listing.runs(store)) == [("run-0", 20), ("run-1", 20)]
