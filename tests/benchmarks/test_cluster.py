"""The table of a cluster's workers: what is drawn has the rules that it is drawn by."""

import numpy as np

from benchmarks.cluster import Shared, _powers, _table, planted_graph


def test_relations_of_a_planted_graph_follow_from_two_others():
    facts = planted_graph(300)
    for number in range(6):
        first, second, both = (
            {tuple(pair) for pair in facts.relations[name, 2].codes.tolist()}
            for name in (f"step{number}", f"step{(number + 1) % 6}", f"twice{number}")
        )
        ends = {}
        for start, end in second:
            ends.setdefault(start, set()).add(end)
        reached = {(start, end) for start, middle in first for end in ends.get(middle, ())}
        assert both <= reached
        assert len(both) > 30
    again = planted_graph(300)
    assert all(
        np.array_equal(facts.relations[key].codes, again.relations[key].codes) for key in again.relations
    )


def test_the_speed_up_is_that_of_a_core_for_each_worker():
    assert _powers(1) == [1]
    assert _powers(5) == [1, 2, 4, 5]
    one, two = Shared(1, 9.0, 1.0, 8.0, 8.0, 0.5, True), Shared(2, 7.0, 1.0, 4.0, 8.0, 0.5, True)
    assert [row[5] for row in _table([one, two]).rows] == ["1.00", "1.80"]
