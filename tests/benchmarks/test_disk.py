"""Graphs in memory and on disk: both are counted alike."""

from benchmarks import disk


def test_both_ways_of_counting_agree(monkeypatch):
    monkeypatch.setattr(disk, "run_apart", lambda work, *given: work(*given))
    report = disk.bench_disk(facts=2000)
    one, two = report.data["counted"]
    assert (one["where"], two["where"]) == ("memory", "disk")
    assert [row[-1] for row in report.tables[0].rows] == ["yes", "yes"]
    assert one["groundings"] == two["groundings"] > 10**6
    assert one["facts"] == two["facts"]
