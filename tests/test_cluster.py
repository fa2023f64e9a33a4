"""A dask cluster of processes: the same results as here, facts sent once, and nothing lost with a worker."""

import json
import os
import signal
import sys
from threading import Timer

import pytest
from tests.cluster_tasks import Noting, dying, dying_once, process_and_number, waiting
from tests.completion.bases import family, large
from tests.learning.small_facts import TARGETS, quick, two_targets
from typer.testing import CliRunner

from andre.cli.app import app
from andre.completion import complete
from andre.errors import AndreError, WorkersLostError
from andre.facts import write_facts
from andre.learning import ProposalConfig, propose
from andre.runs import DirectionFolder, load
from andre.workers import Task, memory_of, run_tasks, workers
from benchmarks.processes import run_all, use_cluster

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process of one thread."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="1GB"
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(2, timeout=60)
        yield made


def test_every_worker_opens_what_is_shared_once(client, tmp_path):
    tasks = (Task(f"number {number % 10}", process_and_number, (number % 10,)) for number in range(40))
    found = list(run_tasks(client, Noting(tmp_path), tasks))
    assert sorted(number for _, (_, number) in found) == sorted(4 * [*range(10)])
    assert all(name == f"number {number}" for name, (_, number) in found)
    opened = (tmp_path / "opened").read_text().split()
    assert len(opened) == len(set(opened)) <= 2
    assert {str(process) for _, (process, _) in found} == set(opened)


def test_another_worker_does_what_a_dead_one_had_begun(client, tmp_path):
    tasks = (Task(str(number), dying_once, (number,)) for number in range(12))
    found = list(run_tasks(client.get_executor(), tmp_path, tasks))
    assert (tmp_path / "died").exists()
    assert sorted(found) == sorted((str(number), number * number) for number in range(12))


def test_facts_outlive_all_workers(client, tmp_path):
    def tasks():
        for number in range(12):
            if number == 6:
                for pid in client.run(os.getpid).values():
                    os.kill(pid, signal.SIGKILL)
            yield Task(str(number), process_and_number, (number % 10,))

    found = list(run_tasks(client, Noting(tmp_path), tasks()))
    assert sorted(int(name) for name, _ in found) == list(range(12))
    assert len({process for _, (process, _) in found}) > 1


def test_tasks_have_names_that_the_scheduler_shows(client):
    def names(dask_scheduler):
        return list(dask_scheduler.task_prefixes)

    list(run_tasks(client, 7, iter([Task("rank parent(x, ?)", pow, (2,))])))
    assert "rank parent(x, ?)" in client.run_on_scheduler(names)


def same(one, two):
    assert one.rules == two.rules
    assert one.choices == two.choices
    assert one.evaluate("test") == two.evaluate("test")
    assert one.reliability.bins == two.reliability.bins


def test_directions_are_learned_alike_though_a_worker_is_killed(client, tmp_path):
    class Killing(DirectionFolder):
        kept = ()

        def keep(self, rules):
            super().keep(rules)
            self.kept = (*self.kept, rules.step)
            if len(self.kept) == 3:
                busy = [worker for worker, tasks in client.processing().items() if tasks]
                (pid,) = client.run(os.getpid, workers=(busy or [*client.nthreads()])[:1]).values()
                os.kill(pid, signal.SIGKILL)

    store = Killing(tmp_path)
    done = complete(family(), large(), executor=client, store=store)
    assert sorted(store.kept) == sorted(done.features)  # each once
    same(done, complete(family(), large()))


@pytest.mark.sweep  # the page of the documentation on clusters learns targets, too
def test_targets_are_learned_alike(client):
    one, two = (quick(two_targets(), TARGETS, executor=executor) for executor in (client, None))
    assert one.program == two.program
    assert [made.length for made in one] == [made.length for made in two]


@pytest.mark.sweep
def test_proposals_are_alike(client):
    config = ProposalConfig(steps=10, restarts=1, parts=1)
    assert propose(family(), config, client) == propose(family(), config) != []


def test_a_cluster_is_reached_by_its_address(cluster):
    with workers(cluster=cluster.scheduler_address) as executor:
        assert executor.submit(pow, 2, 5).result() == 32
        assert 0 < memory_of(executor) <= 1
    with workers(1) as executor:
        assert executor is None
    assert memory_of(None) is None


def test_commands_work_on_a_cluster(cluster, tmp_path):
    base = tmp_path / "family.jsonl"
    write_facts(family(), base)
    settings = ('sizes={"small": 0}', "smoothing=5", "penalties=10")
    how = (*(word for one in settings for word in ("--set", one)), "--evaluate", "test", "--json")

    def ranked(*more):
        found = CliRunner().invoke(app, ["rank", str(base), *how, *map(str, more)], catch_exceptions=False)
        return json.loads(found.stdout)["evaluation"]

    alone = ranked()
    assert ranked("--cluster", cluster.scheduler_address, "--out", tmp_path / "run") == alone
    assert load(tmp_path / "run").evaluate("test").mrr == alone["mrr"]
    with use_cluster(cluster.scheduler_address):
        assert run_all(abs, [-1, 2, -3], workers=2) == [1, 2, 3]


def test_what_keeps_killing_workers_is_an_error(client):
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    try:
        with pytest.raises(WorkersLostError, match="most likely for want of memory"):
            list(run_tasks(client, 0, iter([Task("heavy", dying)])))
    finally:
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3))


def test_a_connection_that_is_lost_is_an_error(client):
    found = run_tasks(client, 0, iter([Task("long", waiting, (1,))]))
    Timer(0.3, client.close).start()
    with pytest.raises(WorkersLostError, match="was lost"):
        next(found)


def test_an_address_without_a_scheduler_is_an_error(monkeypatch):
    monkeypatch.setattr("andre.workers.cluster._CONNECTING", 0.2)
    nobody = "tcp://127.0.0.1:9"
    with pytest.raises(AndreError, match=f"no dask scheduler at {nobody} .*dask scheduler"):
        workers(cluster=nobody).__enter__()
    with pytest.raises(AndreError, match="no dask scheduler at nowhere"), workers(cluster="nowhere"):
        pass


def test_other_versions_are_an_error(cluster, monkeypatch):
    monkeypatch.setattr("andre.workers.cluster._SAME", ("python", "andre", "unheard"))
    with workers(cluster=cluster.scheduler_address):
        pass
    found = distributed.Client.get_versions

    def newer(self, **options):
        process_and_number = found(self, **options)
        process_and_number["client"]["packages"]["andre"] = "99.0"
        return process_and_number

    monkeypatch.setattr(distributed.Client, "get_versions", newer)
    with (
        pytest.raises(
            AndreError, match=r"the scheduler of tcp:.* has andre .* \(here 99.0\): install the same"
        ),
        workers(cluster=cluster.scheduler_address),
    ):
        pass


def test_distributed_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(AndreError, match=r"pip install 'andre\[cluster\]'"):
        workers(cluster="tcp://127.0.0.1:8786").__enter__()
