"""Weighted rules: likelihood, growth, validation, the size that is taken, and decisions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from tests.clock import ticking
from tests.samples.test_binned import binned_tables

from andre.errors import ConfigError, DataError
from andre.learning.ensemble import (
    LabelledTable,
    Labels,
    Proposals,
    WeighingConfig,
    WeightedRules,
    learn_weighted_rules,
)
from andre.learning.ensemble.growth import Growth
from andre.learning.ensemble.likelihood import RuleLoss, base_weights, log_probabilities, shrinkage
from andre.learning.ensemble.model import costs_of, lowest_shares
from andre.learning.ensemble.plainer import plainer
from andre.learning.ensemble.rule_sets import Rows
from andre.learning.ensemble.search import BodySearch, Pull, SearchConfig, codes_of
from andre.learning.ensemble.validation import Validation, _parts, descend
from andre.limits import Deadline, limited
from andre.samples import BinnedColumn, BinnedTable, RuleSpace

#: Where it is not the validation that is tested.
QUICK = {"folds": 2, "penalty": 1.0, "beam": 6}


@st.composite
def losses(draw) -> RuleLoss:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_rules, n_classes = draw(st.integers(10, 60)), draw(st.integers(0, 5)), draw(st.integers(2, 4))
    classes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    labels = Labels(classes, rng.random(n) + 0.5, n_classes)
    return RuleLoss(rng.random((n_rules, n)) < 0.4, rng.integers(0, labels.n_outputs, n_rules), labels)


@settings(max_examples=40)
@given(losses(), st.integers(0, 1000))
def test_slope_and_curvature_are_those_of_finite_differences(loss, seed):
    size = loss.labels.n_outputs + len(loss.owners)
    at = np.random.default_rng(seed).normal(size=size)
    value, slope = loss(at)
    assert value == pytest.approx(loss.labels.weights @ loss.labels.losses(loss.scores(at)))
    table = loss.curvature(at).table()
    for place, step in enumerate(1e-5 * np.eye(size)):
        up, down = loss(at + step), loss(at - step)
        assert slope[place] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-4)
        assert table[place] == pytest.approx((up[1] - down[1]) / 2e-5, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(losses(), st.sampled_from([0.1, 1.0, 10.0]))
def test_weights_are_those_of_logistic_regression(loss, penalty):
    """Of two classes as they are; of more, a rule for one class is an input of that class alone."""
    if loss.labels.n_classes > 2 or not len(loss.owners):
        return
    start = np.zeros(1 + len(loss.owners))
    weights = loss.fit(penalty, start, tolerance=1e-10)
    peer = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000)
    peer.fit(loss.covers.T.astype(float), loss.labels.classes, sample_weight=loss.labels.weights)
    assert weights[0] == pytest.approx(peer.intercept_[0], abs=1e-4)
    assert weights[1:] == pytest.approx(peer.coef_[0], abs=1e-4)


@given(losses())
def test_without_rules_the_probabilities_are_the_shares_of_the_classes(loss):
    labels = loss.labels
    bare = RuleLoss(loss.covers[:0], loss.owners[:0], labels)
    start = base_weights(labels)
    assert bare(start)[1] == pytest.approx(np.zeros(labels.n_outputs), abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_growing_lowers_the_objective_and_the_loss_of_every_rule_set_is_right(data):
    table = data.draw(binned_tables(most_rows=80))
    n_classes = data.draw(st.integers(2, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    labels = Labels(rng.integers(0, n_classes, table.n_rows), rng.random(table.n_rows) + 0.5, n_classes)
    if np.count_nonzero(labels.totals) < n_classes:
        return
    rows = Rows(table, labels)
    sets = list(Growth(rows, SearchConfig(price=0.1, beam=3)).sizes(4))
    assert [len(one.bodies) for one in sets] == list(range(len(sets)))
    for one in sets:
        loss = rows.loss(one)
        assert one.objective == pytest.approx(loss.objective(one.weights, 1.0) + 0.1 * one.n_literals)
        assert all(1 <= len(body) <= 3 for body in one.bodies)
    values = [one.objective for one in sets]
    assert values == sorted(values, reverse=True)


@given(st.sets(st.integers(-50, 50), min_size=1, max_size=9), st.integers(-50, 50), st.integers(0, 8))
def test_descent_finds_the_least_of_a_convex_loss_from_anywhere(found, centre, place):
    values, asked = sorted(found), []

    def loss(value: float) -> float:
        asked.append(value)
        return abs(value - centre)

    best = descend(values, loss, start=values[place % len(values)])
    assert abs(best - centre) == min(abs(value - centre) for value in values)
    assert len(asked) == len(set(asked))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_outputs_that_are_searched_together_are_searched_as_by_themselves(data):
    table = data.draw(binned_tables(most_rows=60))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    slope, bend = rng.normal(size=(table.n_rows, 2)), 0.25 * rng.random((table.n_rows, 2))
    search = BodySearch(table, SearchConfig(price=0.01, beam=3))
    both = search.best(Pull(slope, bend))
    alone = [search.best(Pull(slope[:, [k]], bend[:, [k]])) for k in range(2)]
    scores = [each[0].score for each in alone if each]
    assert max([0.0, *(one.score for one in both)]) == pytest.approx(max([0.0, *scores]), abs=1e-3)


def striped(n: int, noise: float, seed: int = 0, n_classes: int = 2) -> LabelledTable:
    """Two numbers and a category; the label is a rule over all three, and some labels are drawn anew."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 20, (2, n)).astype(np.int16)
    color = rng.integers(0, 4, n).astype(np.int16)
    table = BinnedTable(
        (
            BinnedColumn("a", True, 19, numbers[0]),
            BinnedColumn("b", True, 19, numbers[1]),
            BinnedColumn("color", False, 3, color),
        )
    )
    labels = ((numbers[0] > 7) & (numbers[1] <= 11)).astype(int)
    if n_classes == 3:
        labels = np.where((color == 2) & (numbers[1] > 11), 2, labels)
    labels = np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), labels)
    space = RuleSpace.from_names(
        [f"a{k}" for k in range(19)] + [f"b{k}" for k in range(19)] + ["r", "g", "y"]
    )
    return LabelledTable.of(space, table, np.array(["no", "yes", "perhaps"])[labels])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_known_rules_are_found_and_probabilities_sum_to_one(n_classes):
    table, fresh = striped(600, 0.1, n_classes=n_classes), striped(500, 0.0, seed=1, n_classes=n_classes)
    path = learn_weighted_rules(table, WeighingConfig(max_rules=4, **QUICK))
    assert path.rules.classes == (("no", "yes") if n_classes == 2 else ("no", "perhaps", "yes"))
    shares = path.rules.predict_proba(fresh.bins)
    assert shares.sum(axis=1) == pytest.approx(np.ones(500))
    assert shares == pytest.approx(path.rules.predict_proba(fresh.bins.literals()))
    truth = np.array(path.rules.classes)[fresh.labels.classes]
    assert (path.rules.predict(fresh.bins) == truth).mean() >= 0.97
    assert [step.n_rules for step in path.steps] == list(range(len(path.steps)))
    assert path.chosen.validation is not None
    assert path.chosen.validation.loss < path.steps[0].validation.loss / 1.5
    for owner in range(len(path.rules.bases)):
        for rule in path.rules.program(owner):
            code = table.space.encode(path.rules.program(owner))
            assert rule.on("train") is not None
        covered = table.bins.covers(code) if len(path.rules.program(owner)) else np.zeros((0, 600))
        own = np.array(path.rules.classes)[table.labels.classes] == path.rules.class_of(owner)
        seen = [(rule.on("train").n_b, rule.on("train").n_r) for rule in path.rules.program(owner)]
        assert seen == [(held.sum(), (held & own).sum()) for held in covered]


def test_one_exact_rule_is_all_there_is_to_take():
    path = learn_weighted_rules(striped(300, 0.0), WeighingConfig(max_rules=3))
    assert str(path.rules.program()) == "h :- a7, \\+ b11."
    assert path.rules.weights[0] > 3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_rules_are_the_mean_of_those_of_all_folds(n_classes, monkeypatch):
    quick, kept = {"penalty": 1.0, "beam": 6}, []
    run = Validation.run

    def running(*given):
        kept.append(run(*given))
        return kept[-1]

    monkeypatch.setattr(Validation, "run", running)
    table, fresh = striped(200, 0.3, n_classes=n_classes), striped(400, 0.3, seed=1, n_classes=n_classes)
    path = learn_weighted_rules(table, WeighingConfig(max_rules=40, **quick))
    assert path.chosen is path.averaged
    assert len(path.rules.codes) <= 40
    folds = kept[0].folds
    rows = Rows(fresh.bins, fresh.labels)
    means = [  # of the folds' own sets of every size, one of which it must be
        np.mean([rows.scores(fold.sets[min(size, len(fold.sets) - 1)]) for fold in folds], axis=0)
        for size in range(kept[0].largest + 1)
    ]
    scores = path.rules.scores(fresh.bins)
    assert any(scores == pytest.approx(mean) for mean in means)
    few = learn_weighted_rules(table, WeighingConfig(max_rules=40, size="fewest", **quick))
    assert few.averaged is None
    assert len(few.rules.codes) < len(path.rules.codes)
    within = learn_weighted_rules(table, WeighingConfig(max_rules=6, size="best", **quick))
    assert len(within.rules.codes) <= 6


def test_labels_without_any_rule_give_the_base_rate():
    rng = np.random.default_rng(3)
    table = striped(400, 0.0)
    noise = np.where(rng.random(400) < 0.3, "yes", "no")
    path = learn_weighted_rules(LabelledTable.of(table.space, table.bins, noise))
    assert not len(path.rules.codes)
    assert path.rules.predict_proba(table.bins)[:, 1] == pytest.approx((noise == "yes").mean(), abs=1e-3)
    assert (path.rules.predict(table.bins) == "no").all()


def test_a_given_program_is_taken_where_it_is_as_good():
    table = striped(600, 0.0)
    codes = np.zeros((1, table.space.m), dtype=np.int8)
    codes[0, 7], codes[0, 19 + 11] = 1, -1
    quick = WeighingConfig(max_rules=2, **QUICK)
    path = learn_weighted_rules(table, quick, Proposals(pool=codes, programs=(codes,)))
    assert path.chosen is path.crisp
    assert (path.rules.codes == codes).all()
    path = learn_weighted_rules(table, replace(quick, size="best"), Proposals(programs=(codes,)))
    assert path.crisp is not None
    assert path.chosen is not path.crisp
    wrong = np.zeros_like(codes)
    wrong[0, -1] = 1
    path = learn_weighted_rules(table, quick, Proposals(programs=(wrong,)))
    assert path.chosen is not path.crisp


@pytest.mark.parametrize("seed", range(4))
def test_a_given_program_that_owes_its_place_to_chance_is_not_taken(seed):
    """The best body on all rows for labels that no column bears on: half of the rows do not find it again."""
    table, noise = striped(80, 0.0, seed), np.random.default_rng(seed).random(80) < 0.5
    table = LabelledTable.of(table.space, table.bins, noise)
    found = BodySearch(table.bins, SearchConfig(3, 12, 0.0)).best(Pull(*table.labels.pull(np.zeros((80, 1)))))
    codes = codes_of([found[0].body], table.space.m)
    path = learn_weighted_rules(table, WeighingConfig(max_rules=2, **QUICK), Proposals(programs=(codes,)))
    assert path.crisp is not None
    assert path.chosen is not path.crisp


@pytest.mark.parametrize("seed", range(4))
def test_rules_are_as_short_as_rows_held_out_want_them(seed):
    rows = Rows((table := striped(120, 0.5, seed)).bins, table.labels)
    found = {}
    for longest in (1, 2):
        config = WeighingConfig(max_rules=3, max_literals=longest, **QUICK)
        run = Validation.run(rows, config, np.random.default_rng(0))
        found[longest] = run.search.max_literals, run.loss(run.scores(run.best_size, run.penalty))
    assert found[1][0] == 1
    assert found[2][1] <= found[1][1]  # of two lengths that with the lower loss
    assert (found[2] == found[1]) == (found[2][0] == 1)


@settings(max_examples=50)
@given(binned_tables(), st.integers(0, 1000))
def test_a_plainer_program_covers_the_same_rows_with_no_more_literals(table, seed):
    codes = np.random.default_rng(seed).choice([-1, 0, 0, 1], (3, table.m)).astype(np.int8)
    made = plainer(codes, table)
    assert (table.covers(made).any(axis=0) == table.covers(codes).any(axis=0)).all()
    assert ((made != 0).sum(axis=1) <= (codes != 0).sum(axis=1)).all()
    assert (made < 0).sum() <= (codes < 0).sum()


def test_of_many_rows_some_are_searched_and_all_are_weighed():
    table = striped(3000, 0.2)
    path = learn_weighted_rules(table, WeighingConfig(search_rows=1000, search_cells=3000, max_rules=3))
    rules = path.rules
    loss = RuleLoss(table.bins.covers(rules.codes), rules.owners, table.labels)
    best = loss.fit(path.penalty, np.append(rules.bases, rules.weights), tolerance=1e-9)
    assert np.append(rules.bases, rules.weights) == pytest.approx(best, abs=1e-3)
    assert rules.evidence[:, 0] == pytest.approx(loss.covers.sum(axis=1))


def test_row_weights_count_as_so_many_rows():
    table = striped(200, 0.1)
    twice = np.concatenate((np.arange(200), np.arange(100)))
    repeated = Rows(table.bins, table.labels).take(twice)
    weights = np.where(np.arange(200) < 100, 2.0, 1.0)
    weighed = Rows(table.bins, Labels(table.labels.classes, weights, 2))
    sets = [list(Growth(rows, SearchConfig()).sizes(3)) for rows in (repeated, weighed)]
    for one, other in zip(*sets, strict=True):
        assert one.bodies == other.bodies
        assert one.weights == pytest.approx(other.weights, abs=1e-4)


def test_decisions_follow_the_objective():
    rng = np.random.default_rng(0)
    table = striped(800, 0.0)
    hidden = np.where(table.labels.classes == 1, rng.random(800) < 0.3, rng.random(800) < 0.02)
    rare = LabelledTable.of(table.space, table.bins, np.where(hidden, "yes", "no"))
    said = {
        name: learn_weighted_rules(
            rare, WeighingConfig(objective=objective, max_rules=2, **QUICK)
        ).rules.predict(rare.bins)
        for name, objective in {"a": "accuracy", "b": "balanced", "c": {"yes": 10.0}}.items()
    }
    truth = np.where(hidden, "yes", "no")
    recalls = {k: [(v == truth)[truth == c].mean() for c in ("no", "yes")] for k, v in said.items()}
    assert (said["a"] == truth).mean() >= (truth == "no").mean()
    assert np.mean(recalls["b"]) > np.mean(recalls["a"])
    assert recalls["c"][1] > recalls["a"][1]


def test_time_that_is_up_leaves_what_there_is():
    with limited(Deadline.after(0)) as watch:
        path = learn_weighted_rules(striped(300, 0.0))
    assert path.rules.predict_proba(striped(10, 0.0).bins).shape == (10, 2)
    assert "growing weighted rules" in watch.cut


def test_rules_that_there_was_no_time_to_judge_are_taken(monkeypatch):
    clock, config = ticking(monkeypatch), WeighingConfig(max_rules=1, folds=5, penalty=1.0, beam=4)
    table, begun = striped(100, 0.0), clock.time
    with limited(Deadline.after(1e9)):
        learn_weighted_rules(table, config)
    found = set()
    for ticks in range(10, enough := int(clock.time - begun), enough // 12):
        with limited(Deadline.after(ticks)):
            path = learn_weighted_rules(table, config)
        found.add((path.steps[0].validation is None, len(path.rules.codes) > 0))
    assert (True, True) in found  # a rule without validation


def test_mistakes_are_said():
    table = striped(50, 0.0)
    with pytest.raises(DataError, match="of one class"):
        LabelledTable.of(table.space, table.bins, np.array(["a"] * 50))
    with pytest.raises(DataError, match="labels for"):
        LabelledTable.of(table.space, table.bins, np.array(["a", "b"]))
    with pytest.raises(DataError, match="atoms"):
        LabelledTable.of(RuleSpace.from_names(["x"]), table.bins, np.array(["a", "b"] * 25))
    with pytest.raises(ConfigError, match="none of the classes"):
        costs_of({"maybe": 2.0}, ("no", "yes"), table.labels)
    with pytest.raises(ConfigError, match="choose 'accuracy'"):
        costs_of("speed", ("no", "yes"), table.labels)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="above 0"):
        costs_of({"yes": -1.0}, ("no", "yes"), table.labels)
    with pytest.raises(ConfigError, match="max_rules"):
        WeighingConfig(max_rules=0)
    with pytest.raises(ConfigError, match="fewest or best"):
        WeighingConfig(size="small")  # type: ignore[arg-type]
    codes = np.ones((1, table.space.m), dtype=np.int8)
    with pytest.raises(DataError, match="programs for"):
        learn_weighted_rules(table, WeighingConfig(max_rules=1), Proposals(programs=(codes, codes)))


def test_rules_of_several_classes_print_their_class():
    path = learn_weighted_rules(striped(400, 0.0, n_classes=3), WeighingConfig(max_rules=3, **QUICK))
    assert isinstance(path.rules, WeightedRules)
    lines = str(path.rules).splitlines()
    assert lines[0].startswith("base no ")
    assert len(lines) == 1 + len(path.rules.codes)


@st.composite
def said_of_rows(draw) -> tuple[np.ndarray, Labels]:
    """Probabilities of classes on rows, some of them far too sure, and labels with whole weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_classes = draw(st.integers(4, 40)), draw(st.integers(2, 4))
    classes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    scores = rng.integers(-4, 5, (n, n_classes)) * draw(st.sampled_from([0.3, 3.0]))
    said = np.exp(scores)
    return said / said.sum(axis=1, keepdims=True), Labels(classes, rng.integers(1, 4, n) * 1.0, n_classes)


@given(said_of_rows())
def test_no_class_is_less_probable_than_rows_bear_out(drawn):
    said, labels = drawn
    shares = labels.totals / labels.total
    floors = lowest_shares(said, labels)
    for place, floor in enumerate(floors):
        of_rows = []
        for most in np.unique(said[:, place].round(12)):
            low = said[:, place].round(12) <= most
            own = labels.weights[low & (labels.classes == place)].sum()
            of_rows.append((own + shares[place] / 2) / (labels.weights[low].sum() + 0.5))
        assert floor == pytest.approx(min(of_rows))
    assert (floors <= shares + 1e-12).all()
    twice = np.repeat(np.arange(len(said)), labels.weights.astype(int))
    same = lowest_shares(said[twice], Labels(labels.classes[twice], np.ones(len(twice)), labels.n_classes))
    assert same == pytest.approx(floors)


@given(said_of_rows())
def test_bounded_probabilities_add_up_and_keep_to_their_floors(drawn):
    said, labels = drawn
    scores = np.log(said) if labels.n_classes > 2 else np.log(said[:, 1:] / said[:, :1])
    space = RuleSpace.from_names(["a"])
    none, n_scores = np.zeros((0, 1), dtype=np.int8), scores.shape[1]
    rules = WeightedRules(
        space,
        tuple(range(labels.n_classes)),
        none,
        np.zeros(0, dtype=np.intp),
        np.zeros(0),
        np.zeros(n_scores),
        evidence=np.zeros((0, 2)),
        costs=1 - np.eye(labels.n_classes),
        floors=lowest_shares(said, labels),
    )
    bounded = rules.probabilities(scores)
    assert bounded.sum(axis=1) == pytest.approx(np.ones(len(said)))
    assert (bounded >= rules.floors * (1 - 1e-9)).all() or labels.n_classes > 2
    sure = (said >= rules.floors).all(axis=1)
    assert bounded[sure] == pytest.approx(said[sure])


@given(st.integers(2, 7), st.integers(1, 40))
def test_floors_leave_the_shares_of_classes_alone_where_there_is_no_rule(n_classes, each):
    """All floors are the shares themselves then, and rounding may put every class below its own."""
    labels = Labels(np.repeat(np.arange(n_classes), each), np.ones(n_classes * each), n_classes)
    scores = np.tile(base_weights(labels), (len(labels.classes), 1))
    rules = WeightedRules(
        RuleSpace.from_names(["a"]),
        tuple(range(n_classes)),
        np.zeros((0, 1), dtype=np.int8),
        np.zeros(0, dtype=np.intp),
        np.zeros(0),
        base_weights(labels),
        evidence=np.zeros((0, 2)),
        costs=1 - np.eye(n_classes),
        floors=np.nextafter(np.full(n_classes, 1 / n_classes), 1),
    )
    assert rules.probabilities(scores) == pytest.approx(np.full((len(scores), n_classes), 1 / n_classes))


def test_rules_that_overlap_are_no_surer_than_their_rows():
    """67 rows, one of them wrong: three rules that cover the same rows must not make it 0.99999."""
    fires = np.append(np.ones(67), np.zeros(67)).astype(bool)
    labels = Labels(np.append(np.ones(66), np.zeros(68)).astype(int), np.ones(134), 2)
    space = RuleSpace.from_names(list("abc"))
    literals = np.hstack((np.tile(fires[:, None], 3), np.tile(~fires[:, None], 3)))
    rules = WeightedRules(
        space,
        (0, 1),
        np.eye(3, dtype=np.int8),
        np.zeros(3, dtype=np.intp),
        np.full(3, 5.0),
        np.array([-5.0]),
        evidence=np.tile([67.0, 66.0], (3, 1)),
        costs=1 - np.eye(2),
    )
    too_sure = rules.predict_proba(literals)
    assert too_sure[0, 1] > 0.9999
    bounded = replace(rules, floors=lowest_shares(too_sure, labels)).predict_proba(literals)
    assert 64 / 67 < bounded[0, 1] < 66.5 / 67
    assert (rules.decide(bounded) == rules.decide(too_sure)).all()


@given(st.integers(0, 1000), st.integers(2, 6), st.booleans())
def test_parts_deal_out_every_row_once_and_one_row_is_in_one_part(seed, folds, counted):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, 42) * 1.0
    copies = weights if counted else None
    labels = Labels(np.append([0, 1], rng.integers(0, 2, 40)), weights, 2, copies)
    parts = list(_parts(labels, WeighingConfig(folds=folds), np.random.default_rng(seed)))
    assert sum(parts) == pytest.approx(np.ones(42))
    for held in parts:
        dealt = held * labels.counts
        assert dealt == pytest.approx(dealt.round()), "whole rows are dealt"
        for place in (0, 1):
            fair = labels.counts[labels.classes == place].sum() / folds
            assert abs(dealt[labels.classes == place].sum() - fair) <= 1 + 1e-9


@given(st.data())
def test_merged_rows_weigh_what_all_of_them_weigh(data):
    table = data.draw(binned_tables(most_rows=40))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    labels = Labels(rng.integers(0, 2, table.n_rows), rng.random(table.n_rows), 2)
    rows = Rows(table, labels)
    merged, shuffled = rows.merged(), rows.take(rng.permutation(table.n_rows)).merged()
    assert merged.labels.totals == pytest.approx(labels.totals)
    assert merged.labels.counts.sum() == table.n_rows
    assert [column.bins.tolist() for column in merged.bins.columns] == [
        column.bins.tolist() for column in shuffled.bins.columns
    ]
    assert merged.labels.weights == pytest.approx(shuffled.labels.weights)


def test_rows_that_stand_twice_are_rows_of_weight_two():
    table = striped(200, 0.2)
    weights = np.random.default_rng(1).integers(0, 4, 200)
    labels, seen = table.labels, weights[weights > 0] * 1.0
    counted = LabelledTable(
        table.space,
        table.bins.take(weights > 0),
        Labels(labels.classes[weights > 0], seen, 2, seen),
        table.classes,
    )
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(200), weights))
    repeated = LabelledTable(table.space, table.bins.take(rows), labels.take(rows), table.classes)
    config = WeighingConfig(folds=3, beam=4, max_rules=4)
    one, other = (learn_weighted_rules(each, config) for each in (counted, repeated))
    assert str(one.rules) == str(other.rules)
    assert [step.validation for step in one.steps] == [step.validation for step in other.steps]


def test_where_labels_are_drawn_by_chance_there_is_no_rule():
    with_rules = 0
    for seed in (11, 16, 43, *range(5)):  # chance favours rules on the rows held out of the first three
        rng = np.random.default_rng(seed)
        bins = rng.integers(0, 6, (4, 80)).astype(np.int16)
        columns = tuple(BinnedColumn(f"x{place}", True, 5, own) for place, own in enumerate(bins))
        space = RuleSpace.from_names([f"a{n}" for n in range(20)])
        table = LabelledTable.of(space, BinnedTable(columns), rng.random(80) < 0.6)
        with_rules += len(learn_weighted_rules(table, WeighingConfig(max_rules=3)).rules.codes) > 0
    assert with_rules <= 1


@settings(max_examples=30)
@given(st.integers(0, 1000), st.sampled_from([0.5, 0.8]), st.integers(2, 3))
def test_scores_are_shrunk_to_what_rows_bear_out(seed, factor, n_classes):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(4000, 1 if n_classes == 2 else n_classes))
    chances = np.exp(log_probabilities(truth))
    drawn = (rng.random((4000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    labels = Labels(drawn, np.ones(4000), n_classes)
    assert shrinkage(labels, truth / factor) == pytest.approx(factor, abs=0.15)
    assert shrinkage(labels, truth * factor) == 1.0
