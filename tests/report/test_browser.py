"""The report in a real browser: it opens, answers clicks and keys, and fits a phone, the dark and paper."""

import base64
import shutil
import tempfile

import numpy as np
import pytest
from tests.report import pages

import andre
from andre.facts import TruthRows, read_examples
from andre.learning import Config, fit
from andre.logic import parse_rule
from andre.report import ReportData, gather_classifier, gather_completion, gather_result, write_report
from andre.report.page import Prediction, RuleRow, TargetReport
from andre.runs import load
from andre.samples import SYNTHETIC_TASKS, Sample

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PRESSED = '.rows button[aria-pressed="true"] code'
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="no browser: install Debian's chromium and chromium-driver, as .ci/run does",
)


@pytest.fixture(scope="module")
def browser():
    selenium = pytest.importorskip("selenium.webdriver")
    options = selenium.ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        driver = selenium.Chrome(options=options, service=selenium.ChromeService(DRIVER))
        yield driver
        driver.quit()


@pytest.fixture(scope="module")
def table_page(tmp_path_factory):
    """The report of a table, and what it was made of."""
    task = SYNTHETIC_TASKS["R3"]
    valuations, labels = task.draw(300, seed=1)
    sample = Sample.from_arrays(valuations, labels, space=task.space)
    rows = TruthRows(valuations, labels, np.ones(300))
    data = gather_result(fit(sample, Config.preset(restarts=2, rounds=1)), None, rows)
    return data, write_report(data, tmp_path_factory.mktemp("page") / "table.html").as_uri()


@pytest.fixture(scope="module")
def family_page(tmp_path_factory):
    return write_report(pages.family(), tmp_path_factory.mktemp("page") / "family.html").as_uri()


@pytest.fixture(scope="module")
def completion_page(runs, tmp_path_factory):
    data = gather_completion(load(runs.rank))
    return write_report(data, tmp_path_factory.mktemp("page") / "completion.html").as_uri()


@pytest.fixture(autouse=True)
def _no_complaint(browser):
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.get_log("browser")
    yield
    assert browser.get_log("browser") == []


def visit(browser, url):
    """Open a page and wait until it was read: a busy driver may hand it back before."""
    browser.get(url)
    eventually(browser, lambda: browser.execute_script("return document.readyState") == "complete")


def eventually(browser, holds):
    """Wait for what a click or a key brings about, which a busy browser does later."""
    waiting = pytest.importorskip("selenium.webdriver.support.ui")
    stale = pytest.importorskip("selenium.common").StaleElementReferenceException
    waiting.WebDriverWait(browser, 60, ignored_exceptions=[stale]).until(lambda _: holds())


def find(browser, selector):
    return browser.find_elements("css selector", selector)


def chosen(browser):
    return [button.get_attribute("data-rule") for button in find(browser, 'button.rule[aria-pressed="true"]')]


def listed(browser):
    return [code.text for code in find(browser, ".rows code")]


def test_a_click_on_a_rule_selects_its_predictions(browser, table_page):
    data, url = table_page
    visit(browser, url)
    rules = data.targets[0].rules
    buttons = find(browser, "button.rule")
    assert [button.text.split("\n")[-1] for button in buttons] == [str(row.rule) for row in rules]
    eventually(browser, lambda: chosen(browser) == ["0"])
    for place in (1, 0):
        buttons[place].click()
        eventually(browser, lambda place=place: chosen(browser) == [str(place)])
        wanted = [prediction.text for prediction in rules[place].predictions]
        assert listed(browser) == wanted[: len(listed(browser))]
        assert len(listed(browser)) == min(50, len(wanted))  # a page of them
    chips = [chip.text.split("\n") for chip in find(browser, ".chip")]
    first = rules[0].predictions[0]
    assert [text for text, _ in chips] == [str(literal) for literal in rules[0].rule.body]
    assert [float(value) for _, value in chips] == pytest.approx(first.values, abs=1e-4)


def test_it_can_be_used_by_keyboard_alone(browser, table_page):
    keys = pytest.importorskip("selenium.webdriver").Keys
    actions = pytest.importorskip("selenium.webdriver").ActionChains
    visit(browser, table_page[1])
    for _ in range(2):  # past the link that skips to the rules
        actions(browser).send_keys(keys.TAB).perform()
    eventually(browser, lambda: browser.switch_to.active_element.get_attribute("data-rule") == "0")
    actions(browser).send_keys(keys.ARROW_DOWN).perform()
    eventually(browser, lambda: browser.switch_to.active_element.get_attribute("data-rule") == "1")
    assert chosen(browser) == ["0"]  # the arrow moves, and does not choose
    actions(browser).send_keys(keys.ENTER).perform()
    eventually(browser, lambda: chosen(browser) == ["1"])
    actions(browser).send_keys(keys.HOME, keys.SPACE).perform()
    eventually(browser, lambda: chosen(browser) == ["0"])
    actions(browser).send_keys(keys.END).perform()
    rules = find(browser, "button.rule")
    eventually(browser, lambda: browser.switch_to.active_element == rules[-1])
    find(browser, ".rows button")[0].send_keys(keys.ARROW_DOWN, keys.ENTER)
    second = listed(browser)[1]
    eventually(browser, lambda: [code.text for code in find(browser, PRESSED)] == [second])


def test_a_grounding_is_drawn_as_a_graph(browser, family_page):
    visit(browser, family_page)
    picture = find(browser, ".graph")[0]
    label = picture.get_attribute("aria-label")
    assert label == "Grounding: grandparent(ann, carl), parent(ann, bob), parent(bob, carl)"
    texts = [text.text for text in picture.find_elements("css selector", "text")]
    assert set(texts) == {"X: ann", "Y: carl", "Z: bob", "grandparent", "parent"}
    assert len(picture.find_elements("css selector", "path.edge")) == 3
    find(browser, ".rows button")[1].click()
    eventually(browser, lambda: "parent(bob, dora)" in find(browser, ".graph")[0].get_attribute("aria-label"))


def test_a_link_opens_its_target(browser, family_page):
    visit(browser, family_page)
    second = find(browser, "details.target")[1]
    for _ in range(2):  # the second time the address does not change
        assert second.get_attribute("open") is None
        find(browser, 'a[href="#t1"]')[0].click()
        eventually(browser, lambda: second.get_attribute("open") is not None)
        second.find_element("css selector", "summary").click()
        eventually(browser, lambda: second.get_attribute("open") is None)
    find(browser, 'a[href="#t1"]')[0].click()
    eventually(browser, lambda: second.get_attribute("open") is not None)
    second.find_element("css selector", "button.rule").click()
    eventually(browser, lambda: len(second.find_elements("css selector", ".graph")) == 1)
    picture = second.find_element("css selector", ".graph")
    assert len(picture.find_elements("css selector", "path.edge.no")) == 0  # its negated literal has one term
    assert "not male" in [text.text for text in picture.find_elements("css selector", "text")]


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_it_fits_the_width_of_the_screen(browser, table_page, family_page, completion_page, width):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    for url in (table_page[1], family_page, completion_page):
        visit(browser, url)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width


CONTRAST = """
const light = (c) => c.map((v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const read = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const behind = (e) => { for (; e; e = e.parentElement) { const c = read(getComputedStyle(e).backgroundColor);
  if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
return [...document.querySelectorAll('main *, header *')]
  .filter((e) => e.getClientRects().length)
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
  .map((e) => { const svg = e instanceof SVGElement, s = getComputedStyle(e);
    const [a, b] = [light(read(svg ? s.fill : s.color).slice(0, 3)), light(behind(e))];
    const name = e.tagName + '.' + (e.className.baseVal ?? e.className);
    return [name, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; })
  .filter(([, ratio]) => ratio < 4.5);
"""


@pytest.fixture(scope="module")
def several_classes_page(tmp_path_factory):
    """The report of a table with three classes, some of whose rows are taken for others."""
    draw = np.random.default_rng(1)
    sizes = {"small": 2.0, "middling": 3.0, "large": 4.5}
    names = np.repeat(list(sizes), 50)
    length = np.array([sizes[name] for name in names]) + draw.normal(0, 0.5, len(names))
    table = {"length of the leaf (cm)": length.round(2), "color": draw.choice(["red", "blue"], len(names))}
    model = andre.fit({**table, "size": names}, label="size", max_rules=4)
    rows, _ = read_examples({**table, "size": names}, "size")
    data = gather_classifier(model, None, rows)
    return write_report(data, tmp_path_factory.mktemp("page") / "classes.html").as_uri()


#: Boxes of texts that cover one another, or leave the drawing or the screen.
COLLISIONS = """
const boxes = [...document.querySelectorAll('svg.graph')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect(), room = document.documentElement.clientWidth;
  const texts = [...svg.querySelectorAll('text')].map((t) => [t.firstChild.data, t.getBoundingClientRect()]);
  const wrong = texts.filter(([, b]) => b.left < frame.left - 1 || b.right > frame.right + 1
    || b.top < frame.top - 1 || b.bottom > frame.bottom + 1 || b.right > room).map(([t]) => `${t} leaves`);
  texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([two, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 1) wrong.push(`${one} covers ${two}`);
  }));
  return wrong;
});
return boxes;
"""
#: Texts outside of drawings that are wider than their place, or leave the screen.
OVERFLOWING = """
return [...document.querySelectorAll('main p, main li, main td, main th, main h2, main h3, main dd, main dt')]
  .filter((e) => e.getClientRects().length && !e.closest('.scroll') && !e.closest('figure'))
  .filter((e) => e.scrollWidth > e.clientWidth + 1
    || e.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map((e) => e.textContent.slice(0, 60));
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_covers_another_or_is_cut(
    browser, width, tmp_path, family_page, completion_page, several_classes_page
):
    long_page = write_report(pages.long_names(), tmp_path / "long.html").as_uri()
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    for name, url in {
        "family": family_page,
        "completion": completion_page,
        "classes": several_classes_page,
        "long": long_page,
    }.items():
        visit(browser, url)
        for details in find(browser, "details"):
            browser.execute_script("arguments[0].open = true", details)
        for button in find(browser, "button.rule")[:6]:
            browser.execute_script("arguments[0].click()", button)
            assert browser.execute_script(COLLISIONS) == []
        assert browser.execute_script(OVERFLOWING) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        browser.save_screenshot(str(tmp_path / f"{name}-{width}.png"))
    assert len(list(tmp_path.glob("*.png"))) == 4


def test_long_names_are_whole_and_relations_of_many_arguments_have_edges(browser, tmp_path):
    visit(browser, write_report(pages.long_names(), tmp_path / "long.html").as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for button in find(browser, "button.rule"):
        browser.execute_script("arguments[0].click()", button)
    first, second = find(browser, "svg.graph")
    for picture, names in (
        (first, ("dr_maria_magdalena_von_hohenstein", "saint_bartholomews_hospital_london")),
        (second, ("acetylsalicylic acid, 500 mg", "patient_number_1203948572098", "thrice_daily")),
    ):
        drawn = "".join(text.text for text in picture.find_elements("css selector", "text")).replace(" ", "")
        assert "…" not in drawn
        for name in names:
            assert name.replace(" ", "") in drawn
    assert len(second.find_elements("css selector", "rect.box")) == 2
    # Three for the head, four for the literal of four arguments, one each for the two others.
    assert len(second.find_elements("css selector", "path.edge")) == 3 + 4 + 1 + 1


def test_all_predictions_are_reached_by_pages_and_by_search(browser, tmp_path):
    rule = parse_rule("fond(X, Y) :- meets(X, Y).")
    rows = tuple(Prediction(f"fond(a{n}, b{n})", True, terms=(f"a{n}", f"b{n}")) for n in range(120))
    target = TargetReport("fond(X, Y)", rules=(RuleRow(rule, predictions=rows, left_out=1234),))
    visit(browser, write_report(ReportData("Many", (target,)), tmp_path / "many.html").as_uri())
    back, on = find(browser, ".find button")
    status = find(browser, ".find [role=status]")[0]
    seen = listed(browser)
    while on.is_enabled():
        on.click()
        seen += listed(browser)
    assert seen == [row.text for row in rows]
    assert status.text == "101–120 of 120"
    assert back.is_enabled()
    assert "1,234 more are not in this page" in find(browser, ".predictions .hint")[0].text
    find(browser, ".find input")[0].send_keys("A11")
    eventually(browser, lambda: status.text == "1–11 of 11")
    assert listed(browser) == ["fond(a11, b11)", *(f"fond(a11{n}, b11{n})" for n in range(10))]


def test_what_is_wrong_comes_first_and_how_it_was_learned_is_folded(browser, table_page):
    visit(browser, table_page[1])
    heads = [title.text for title in find(browser, "main h2") if title.is_displayed()]
    assert heads[:2] == ["What it gets right and wrong", "Program"]
    for folded in ("What the network holds", "Training", "Runs compared", "Rejected, and why"):
        assert folded not in heads
    fold = find(browser, "details.fold > summary")[0]
    fold.click()
    titles = find(browser, "main h2")
    eventually(browser, lambda: "Training" in [title.text for title in titles if title.is_displayed()])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_told_from_its_ground(browser, table_page, family_page, completion_page, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for url in (table_page[1], family_page, completion_page):
        visit(browser, url)
        assert browser.execute_script(CONTRAST) == []
        ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 384) == (scheme == "dark")


def test_everything_that_acts_or_shows_has_a_name(browser, table_page):
    visit(browser, table_page[1])
    nameless = """
    return [...document.querySelectorAll('button, a, summary, svg[role=img], [role=region]')]
      .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.getAttribute('aria-labelledby')))
      .map((e) => e.outerHTML.slice(0, 80));"""
    assert browser.execute_script(nameless) == []
    missing = """
    return [...document.querySelectorAll('[aria-labelledby], [aria-controls]')]
      .flatMap((e) => [e.getAttribute('aria-labelledby'), e.getAttribute('aria-controls')])
      .filter((id) => id && !document.getElementById(id));"""
    assert browser.execute_script(missing) == []
    assert browser.execute_script("return document.documentElement.lang") == "en"
    levels = browser.execute_script("return [...document.querySelectorAll('h1,h2,h3')].map((h) => h.tagName)")
    assert levels[0] == "H1"
    assert levels.count("H1") == 1


def test_it_prints(browser, table_page):
    visit(browser, table_page[1])
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not find(browser, ".hint.screen")[0].is_displayed()
    cut = "return [...document.querySelectorAll('button.rule code')].filter((c) => c.clientWidth < 60).length"
    assert browser.execute_script(cut) == 0


def test_nothing_is_fetched(browser, table_page, family_page):
    for url in (table_page[1], family_page):
        visit(browser, url)
        assert (
            browser.execute_script("return performance.getEntriesByType('resource').map((r) => r.name)") == []
        )


def test_a_page_as_large_as_a_knowledge_base_opens_and_answers(browser, tmp_path):
    visit(browser, write_report(pages.large(), tmp_path / "large.html").as_uri())
    assert len(find(browser, "details.target")) == 46
    find(browser, "button.rule")[3].click()
    eventually(browser, lambda: chosen(browser) == ["3"])
    assert len(find(browser, ".graph path.edge")) == 3  # the head and two literals, but no comparison
    assert len(find(browser, ".graph path.edge.no")) == 1
