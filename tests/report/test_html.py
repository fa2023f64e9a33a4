"""The page is whole, safe, small, and carries the numbers it was given."""

import json
import re
from html.parser import HTMLParser

import pytest
from tests.report import pages

from andre.facts import FactBase
from andre.inference import Explainer
from andre.logic import parse_atom, parse_program, parse_rule
from andre.report import ReportData, as_values, write_report
from andre.report.draw import bars_svg, chart_svg
from andre.report.html import render
from andre.report.page import Bars, Chart, Prediction, Provenance, Rejected, RuleRow, RunRow, TargetReport
from andre.report.theory import Judged, rule_rows

VOID = {"meta", "link", "br", "hr", "img", "input"}
EVIL = "</script><script>alert(1)</script>&\"'<img src=x onerror=alert(2)>"


class Checker(HTMLParser):
    """Collects tags, and notes where one is closed that is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.seen, self.wrong, self.ids = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert not checker.wrong
    assert not checker.open
    assert len(set(checker.ids)) == len(checker.ids)
    return checker


def embedded(page: str):
    return json.loads(re.search(r'id="predictions">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize("data", [pages.family(), pages.large(3, 4, 5), ReportData("empty", ())])
def test_a_page_is_well_formed_and_needs_nothing_else(data):
    page = render(data)
    checker = checked(page)
    for _, attributes in checker.seen:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    addresses = re.findall(r"https?://[^\s\"']+|@import|url\(", page)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}  # the name of a language


def test_names_are_text_and_never_markup(tmp_path):
    quoted = parse_rule("'" + EVIL.replace("'", "''") + "'(X) :- b(X, 'a<b').")
    data = ReportData(
        EVIL,
        (
            TargetReport(
                EVIL,
                EVIL,
                (RuleRow(quoted, 0.1, 1, (Prediction(EVIL, True, 0.5, EVIL, (EVIL,), (1.0,)),)),),
                bars=Bars((EVIL,), (((1.0, 0.0, 0.0),),)),
                charts=(Chart(EVIL, (0.0, 1.0), {EVIL: (0.0, 1.0)}, EVIL),),
                runs=(RunRow(EVIL, 1, (1,), (1,), 1.0),),
                rejected=(Rejected(quoted, EVIL),),
                notes=(EVIL,),
            ),
        ),
        Provenance(EVIL, {EVIL: EVIL}, 0, EVIL, {EVIL: 1.0}, {EVIL: EVIL}),
    )
    page = write_report(data, tmp_path / "page.html").read_text()
    checker = checked(page)
    assert [tag for tag, _ in checker.seen].count("script") == 2
    assert not [tag for tag, attributes in checker.seen if tag == "img" or "onerror" in attributes]
    assert embedded(page)[0][0]["rows"][0][0] == EVIL


def test_what_a_click_shows_is_what_was_derived():
    data = pages.family()
    first = embedded(render(data))[0][0]
    assert first["variables"] == ["X", "Y", "Z"]
    assert first["head"] == ["grandparent", [0, 1]]
    assert first["body"] == [["parent", [0, 2], False, False], ["parent", [2, 1], False, False]]
    assert [row[0] for row in first["rows"]] == ["grandparent(ann, carl)", "grandparent(ann, dora)"]
    assert first["rows"][1][4] == ["ann", "dora", "bob"]
    assert first["left"] == 7


def test_rules_list_what_they_derive_and_what_is_wrong_first():
    facts = FactBase.from_facts(rule.head for rule in parse_program(pages.FAMILY))
    rules = parse_program("elder(X,Y) :- parent(X,Y). elder(X,Y) :- parent(X,Z), parent(Z,Y).")
    atoms = ["elder(ann,bob)", "elder(ann,carl)", "elder(ann,dora)", "elder(carl,ann)"]
    judged = [Judged(parse_atom(atom), place != 2, "test") for place, atom in enumerate(atoms)]
    near, far = rule_rows(rules.rules, Explainer(rules, facts), judged, most=1)
    assert [p.text for p in near.predictions] == ["elder(ann, bob)"]
    assert [(p.text, p.terms) for p in far.predictions] == [("elder(ann, dora)", ("ann", "dora", "bob"))]
    assert (near.left_out, far.left_out) == (0, 1)


def test_a_page_of_many_targets_stays_small_and_counts_what_it_leaves_out():
    page = render(pages.large(12, 25, 60), room=1_000_000)
    assert 500_000 < len(page.encode()) < 1_250_000
    rules = [rule for target in embedded(page) for rule in target]
    assert len(rules) == 12 * 25
    assert {len(rule["rows"]) + rule["left"] for rule in rules} == {260}


def test_every_section_that_is_given_is_shown_and_no_other():
    whole = render(pages.large(3, 2, 2))
    bare = render(ReportData("bare", (TargetReport("h"),)))
    for title in (
        "What the network holds",
        "Training",
        "Census",
        "Runs compared",
        "Rejected, and why",
        "Scores",
    ):
        assert title in whole
        assert title not in bare
    assert "No rule was learned" in bare


def test_bars_have_the_widths_of_their_shares():
    drawn = bars_svg(Bars(("a", "b"), (((0.5, 0.25, 0.25), (1.0, 0.0, 0.0)),)), 0)
    widths = [float(width) for width in re.findall(r'width="([\d.]+)"', drawn)]
    assert len(widths) == 4  # an empty share has no bar
    assert widths[0] / widths[3] == pytest.approx(0.5, abs=0.01)
    assert sum(widths[:3]) == pytest.approx(widths[3], abs=0.3)


def test_a_line_with_a_gap_is_drawn_in_pieces():
    drawn = chart_svg(Chart("c", (0, 1, 2, 3, 4), {"a": (0.1, 0.2, None, 0.4, 0.5)}))
    assert drawn.count("<polyline") == 2
    assert chart_svg(Chart("c", (), {})) == ""


def test_values_for_machines_are_json():
    values = json.loads(json.dumps(as_values(pages.large(3, 3, 4))))
    rule = values["targets"][0]["rules"][0]
    assert parse_rule(rule["rule"])
    assert rule["evidence"][0] == {"split": "train", "n_b": 331, "n_r": 300}
    assert len(rule["predictions"]) == 4
