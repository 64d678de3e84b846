"""The report in a real Chromium: what a reader sees, moves and hears."""

import json
import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from browser import DESKTOP, PHONE, TABLET, find_chromium, look_like, open_browser
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score, precision_score, recall_score

from metasampler import MesaClassifier
from metasampler.datasets import make_claims
from metasampler.report import make_report

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

if None in find_chromium():
    missing = "chromium and chromedriver must be on PATH (Debian: chromium, chromium-driver)"
    if os.environ.get("REQUIRE_CHROMIUM"):
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing, allow_module_level=True)


@pytest.fixture(scope="session")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def judged():
    """A fit, rows it has not seen, and the report on them."""
    claims = make_claims(4000)
    X, y = claims.drop(columns="fraud"), claims["fraud"]
    # Enough boosters for a picture of how they were drawn.
    clf = MesaClassifier(recipe="fast", n_estimators=4, threshold="f1", random_state=0)
    clf.fit(X[:2000], y[:2000])
    report = make_report(
        clf, X[2000:], y[2000:], target="fraud", miss_cost=20, n_repeats=1, n_resamples=200
    )
    scores = clf.predict_proba(X[2000:])[:, list(clf.classes_).index("yes")]
    return report, scores, (y[2000:] == "yes").to_numpy()


@pytest.fixture
def page(browser, judged, tmp_path):
    """The report, opened from disk at the size of a desktop."""
    look_like(browser, DESKTOP)
    return open_page(browser, judged[0].html, tmp_path)


def open_page(browser, html, folder):
    path = folder / "report.html"
    path.write_text(html, encoding="utf-8")
    browser.get_log("performance")
    browser.get(path.as_uri())
    return browser


def shown(page, key):
    """Return what the page shows for a key, as text."""
    return page.find_element(By.CSS_SELECTOR, f"[data-out='{key}']").text


def number(page, key):
    """Return what the page shows for a key, as a number; percentages as parts."""
    words = shown(page, key).replace(",", "")
    return float(words[:-1]) / 100 if words.endswith("%") else float(words)


def slide_to(page, place):
    """Move the slider as a finger would: the value changes, and the page hears of it."""
    page.execute_script(
        "const s = document.getElementById('slider'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));",
        int(place),
    )


def fill(page, box, value):
    field = page.find_element(By.ID, box)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(str(value))


def complaints(page):
    return [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def test_the_numbers_of_every_place_of_the_slider_are_those_of_scikit_learn(page, judged):
    report, scores, positive = judged
    thresholds = report.numbers["threshold"]
    start = report.numbers["start"]
    for place in {0, 1, start, *range(0, len(thresholds), 97), len(thresholds) - 1}:
        slide_to(page, place)
        called = scores >= thresholds[place]
        counts = confusion_matrix(positive, called, labels=[False, True])
        for key, wanted in zip(
            ("rest", "false-alarms", "misses", "hits"), counts.ravel(), strict=True
        ):
            assert number(page, key) == wanted
            of_class = positive.sum() if key in ("hits", "misses") else (~positive).sum()
            assert number(page, f"{key}-share") == pytest.approx(wanted / of_class, abs=0.00051)
        assert number(page, "recall") == pytest.approx(recall_score(positive, called), abs=0.00051)
        if called.any():
            precision = precision_score(positive, called)
            assert number(page, "precision") == pytest.approx(precision, abs=0.00051)
        else:
            assert shown(page, "precision") == "\N{EN DASH}"
        assert float(shown(page, "threshold")) == pytest.approx(thresholds[place], rel=1e-3)


def test_the_page_begins_at_the_threshold_of_the_model(page, judged):
    report, scores, _ = judged
    slider = page.find_element(By.ID, "slider")
    assert int(slider.get_attribute("value")) == report.numbers["start"]
    called = (scores >= report.numbers["threshold"][report.numbers["start"]]).sum()
    assert number(page, "hits") + number(page, "false-alarms") == called
    # The script writes what was there before it ran.
    headline = page.find_element(By.TAG_NAME, "h1").text
    assert page.find_element(By.ID, "live").text == headline


def test_the_numbers_without_script_are_those_with_it(browser, judged, tmp_path):
    look_like(browser, DESKTOP)
    keys = ("precision", "recall", "alarms-a-day", "cost", "hits", "misses", "rest", "threshold")
    with_script = {}
    open_page(browser, judged[0].html, tmp_path)
    for key in keys:
        with_script[key] = shown(browser, key)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        open_page(browser, judged[0].html, tmp_path)
        assert not browser.find_element(By.ID, "slider").is_displayed()
        without = {key: shown(browser, key) for key in keys if key != "threshold"}
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    del with_script["threshold"]
    assert without == with_script


def test_the_boxes_move_alarms_and_costs(page, judged):
    report, scores, positive = judged
    fill(page, "rows-a-day", 50_000)
    fill(page, "miss-cost", 35)
    fill(page, "alarm-cost", 2.5)
    called = scores >= report.numbers["threshold"][report.numbers["start"]]
    (_, false), (misses, _) = confusion_matrix(positive, called)
    factor = 50_000 / len(scores)
    assert number(page, "alarms-a-day") == pytest.approx(called.sum() * factor, abs=0.51)
    cost = factor * (35 * misses + 2.5 * false)
    assert number(page, "cost") == pytest.approx(cost, abs=0.51)
    assert "of 50,000 rows" in shown(page, "alarms-a-day-words")


def test_the_alarms_that_a_team_can_check_set_the_threshold(page, judged):
    report, scores, _ = judged
    fill(page, "rows-a-day", 50_000)
    fill(page, "alarms-per-day", 700)
    shares = np.array([np.mean(scores >= at) for at in report.numbers["threshold"]])
    most = max(share for share in shares if 50_000 * share <= 700)
    assert number(page, "alarms-a-day") == pytest.approx(50_000 * most, abs=0.51)
    assert page.find_element(By.ID, "alarms-per-day").get_attribute("value") == "700"
    fill(page, "alarms-per-day", -1)
    assert number(page, "alarms-a-day") == pytest.approx(50_000 * most, abs=0.51)
    # The slider moves the number in the box.
    page.find_element(By.CSS_SELECTOR, "button[data-go=start]").click()
    shown_in_box = page.find_element(By.ID, "alarms-per-day").get_attribute("value")
    assert float(shown_in_box) == pytest.approx(number(page, "alarms-a-day"), rel=0.006)
    fill(page, "alarms-per-day", 0)
    assert number(page, "alarms-a-day") == 0


def test_a_box_without_an_amount_is_marked_and_changes_nothing(page):
    before = shown(page, "cost")
    box = page.find_element(By.ID, "miss-cost")
    for words in ("-3", ""):
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(words or Keys.DELETE)
        assert box.get_attribute("aria-invalid") == "true"
        assert "NaN" not in page.find_element(By.TAG_NAME, "main").text
    # "-" alone, while it is typed, is no amount either; the last one counts.
    assert shown(page, "cost") == before
    fill(page, "miss-cost", 3)
    assert box.get_attribute("aria-invalid") == "false"


def test_the_buttons_find_the_cheapest_and_the_best(page, judged):
    report, scores, positive = judged
    thresholds = np.array(report.numbers["threshold"])
    calls = [scores >= threshold for threshold in thresholds]
    page.find_element(By.CSS_SELECTOR, "[data-go='f1']").click()
    place = int(page.find_element(By.ID, "slider").get_attribute("value"))
    best = max(2 * np.sum(called & positive) / (called.sum() + positive.sum()) for called in calls)
    assert f1_score(positive, calls[place]) == pytest.approx(best)
    for miss_cost in (1, 500):
        fill(page, "miss-cost", miss_cost)
        page.find_element(By.CSS_SELECTOR, "[data-go='cheapest']").click()
        place = int(page.find_element(By.ID, "slider").get_attribute("value"))
        costs = [
            miss_cost * np.sum(positive & ~called) + np.sum(called & ~positive) for called in calls
        ]
        assert costs[place] == min(costs)
    page.find_element(By.CSS_SELECTOR, "[data-go='start']").click()
    place = int(page.find_element(By.ID, "slider").get_attribute("value"))
    assert place == report.numbers["start"]


def test_marks_follow_the_slider(page, judged):
    numbers = judged[0].numbers
    curve = page.find_element(By.CSS_SELECTOR, "circle[data-mark='precision-recall']")
    # The axis of precision ends where the curve does.
    top = float(page.find_element(By.CSS_SELECTOR, "svg[data-top]").get_attribute("data-top"))
    gains = page.find_element(By.CSS_SELECTOR, "circle[data-mark='gains']")
    upright = page.find_element(By.CSS_SELECTOR, "line[data-mark='scores']")
    places = []
    for place in (len(numbers["threshold"]) // 4, 3 * len(numbers["threshold"]) // 4):
        slide_to(page, place)
        recall = numbers["hits"][place] / numbers["positive"]
        precision = numbers["hits"][place] / numbers["alarms"][place]
        share = numbers["alarms"][place] / numbers["rows"]
        # The frame of every figure: from 52 to 346, and from 218 up to 12.
        assert float(curve.get_attribute("cx")) == pytest.approx(52 + 294 * recall, abs=0.06)
        assert float(curve.get_attribute("cy")) == pytest.approx(
            218 - 206 * precision / top, abs=0.06
        )
        assert float(gains.get_attribute("cx")) == pytest.approx(52 + 294 * share, abs=0.06)
        places.append(float(upright.get_attribute("x1")))
    assert places[0] < places[1]


def test_all_can_be_done_by_keyboard(page):
    body = page.find_element(By.TAG_NAME, "body")
    reached = []
    for _ in range(40):
        page.switch_to.active_element.send_keys(Keys.TAB)
        element = page.switch_to.active_element
        if element == body:
            break
        outline = page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", element)
        assert outline != "none", "the focus must be seen"
        reached.append(element.get_attribute("id") or element.get_attribute("data-go"))
        if reached[-1] == "slider":
            before = int(element.get_attribute("value"))
            for key, wanted in (
                (Keys.ARROW_RIGHT, before + 1),
                (Keys.ARROW_LEFT, before),
                (Keys.END, int(element.get_attribute("max"))),
                (Keys.HOME, 0),
            ):
                element.send_keys(key)
                assert int(element.get_attribute("value")) == wanted
            assert number(page, "misses") == 0
            element.send_keys(Keys.PAGE_UP)
            assert int(element.get_attribute("value")) > 1
    wanted = ["slider", "start", "cheapest", "f1", "rows-a-day", "alarms-per-day"]
    wanted += ["miss-cost", "alarm-cost"]
    assert [name for name in reached if name in wanted] == wanted


def test_a_screen_reader_is_told_names_and_changes(page):
    nodes = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]

    def named(role):
        return [
            node["name"]["value"]
            for node in nodes
            if not node["ignored"] and node.get("role", {}).get("value") == role
        ]

    assert named("slider") == ["Threshold"]
    assert named("spinbutton") == [
        "Rows per day",
        "Alarms per day",
        "Cost of a row that is missed",
        "Cost of a false alarm",
    ]
    # Every figure has a name: curve, cost, gains, calibration, scores, and what the growth has.
    n_figures = len(page.find_elements("css selector", 'svg[role="img"]'))
    assert len(named("image")) == n_figures >= 6
    assert all(named("image"))
    assert all(named("table"))
    assert "Skip to the threshold" in named("link")
    slide_to(page, 0)
    said = page.find_element(By.ID, "said")
    assert said.get_attribute("aria-live") == "polite"
    # Once the slider rests it is said, not before.
    page.execute_async_script("setTimeout(arguments[0], 800)")
    live = page.find_element(By.ID, "live")
    assert said.get_attribute("textContent") == live.get_attribute("textContent") != ""
    slider = page.find_element(By.ID, "slider")
    assert slider.get_attribute("aria-valuetext") == shown(page, "threshold")


@pytest.mark.parametrize("size", [PHONE, TABLET, DESKTOP], ids=["phone", "tablet", "desktop"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_wider_than_the_window(browser, judged, tmp_path, size, dark):
    look_like(browser, size, dark=dark)
    open_page(browser, judged[0].html, tmp_path)
    for details in browser.find_elements(By.TAG_NAME, "details"):
        browser.execute_script("arguments[0].open = true", details)
    page_width, window = browser.execute_script(
        "const d = document.documentElement; return [d.scrollWidth, d.clientWidth]"
    )
    assert page_width <= window
    beyond = browser.execute_script(BEYOND)
    assert beyond == []
    small = browser.execute_script(
        """return [...document.querySelectorAll("button, input")].filter((e) =>
             e.getBoundingClientRect().height < 24).length"""
    )
    assert small == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(browser, judged, tmp_path, dark):
    look_like(browser, DESKTOP, dark=dark)
    open_page(browser, judged[0].html, tmp_path)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (light_of(paper) < 0.1) == dark
    faint = browser.execute_script(CONTRASTS)
    assert len(faint) > 100
    for words, front, back in faint:
        first, second = sorted((light_of(front), light_of(back)), reverse=True)
        assert (first + 0.05) / (second + 0.05) >= 4.5, words


#: What reaches over the right edge, apart from tables that scroll by themselves.
BEYOND = """
  return [...document.querySelectorAll("main *")]
    .filter((e) => !e.closest(".scroll") && !e.closest(".unseen") && !e.closest("svg"))
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
    .map((e) => e.outerHTML.slice(0, 80));
"""


#: Every text that is seen, its colour and the nearest colour behind it that is not clear.
CONTRASTS = """
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    let behind = element, back;
    do {
      back = getComputedStyle(behind).backgroundColor;
      behind = behind.parentElement;
    } while (/, 0(\\.\\d+)?\\)$/.test(back) && behind);
    const style = getComputedStyle(element);
    const front = element.closest("svg") ? style.fill : style.color;
    found.push([walker.currentNode.textContent, front, back]);
  }
  return found;
"""


def light_of(colour):
    """Return the relative luminance of a colour as a browser writes it."""
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_print_is_on_white_with_everything_unfolded(browser, judged, tmp_path):
    look_like(browser, DESKTOP, dark=True, media="print")
    open_page(browser, judged[0].html, tmp_path)
    try:
        paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert light_of(paper) == 1
        assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
        assert not browser.find_element(By.ID, "slider").is_displayed()
        browser.execute_script("dispatchEvent(new Event('beforeprint'))")
        assert not browser.find_elements(By.CSS_SELECTOR, "details:not([open])")
        browser.execute_script("dispatchEvent(new Event('afterprint'))")
        assert not browser.find_elements(By.CSS_SELECTOR, "details[open]")
    finally:
        look_like(browser, DESKTOP)


def test_the_console_is_silent_and_nothing_is_asked_of_the_network(page):
    for place in (0, 5, 50):
        slide_to(page, place)
    fill(page, "rows-a-day", 10)
    assert complaints(page) == []
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:///", "data:"))] == []
    assert len([url for url in asked if url.startswith("file:///")]) == 1


def test_a_server_is_asked_for_the_page_and_nothing_else(browser, judged, tmp_path):
    judged[0].save(tmp_path / "report.html")
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        browser.get(f"http://127.0.0.1:{server.server_port}/report.html")
        browser.execute_async_script("setTimeout(arguments[0], 500)")
    finally:
        server.shutdown()
        server.server_close()
    assert asked == ["/report.html"]


def test_the_policy_stops_scripts_styles_and_requests_of_others(browser, judged, tmp_path):
    strange = (
        "<script>window.ran = 1</script><p id='styled' style='color: rgb(1, 2, 3)'>x</p>"
        "<img src='https://example.invalid/x.png' onerror='window.ran = 1'></body>"
    )
    open_page(browser, judged[0].html.replace("</body>", strange), tmp_path)
    assert browser.execute_script("return window.ran") is None
    styled = browser.find_element(By.ID, "styled").value_of_css_property("color")
    assert styled.replace(" ", "") not in ("rgb(1,2,3)", "rgba(1,2,3,1)")
    assert len(complaints(browser)) >= 3
    # The page itself still works.
    slide_to(browser, 0)
    assert number(browser, "misses") == 0


def test_names_that_look_like_code_are_words(browser, tmp_path):
    evil = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
    rng = np.random.default_rng(0)
    y = np.where(rng.random(500) < 0.2, evil, "fine")
    X = rng.normal(size=(500, 1)) + (y == evil)[:, None]
    clf = LogisticRegression().fit(X, y)
    report = make_report(
        clf, X, y, pos_label=evil, target=evil, title=evil, source={evil: evil}, n_repeats=1
    )
    open_page(browser, report.html, tmp_path)
    slide_to(browser, 3)
    assert browser.execute_script("return window.ran") is None
    assert complaints(browser) == []
    assert "</script><script>" in browser.find_element(By.TAG_NAME, "h1").text


def test_without_labels_alarms_move_and_nothing_else_is_said(browser, judged, tmp_path):
    claims = make_claims(3000)
    X, y = claims.drop(columns="fraud"), claims["fraud"]
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X[:2000], y[:2000])
    report = make_report(clf, X[2000:])
    scores = clf.predict_proba(X[2000:])[:, list(clf.classes_).index("yes")]
    open_page(browser, report.html, tmp_path)
    assert number(browser, "alarms") == (clf.predict(X[2000:]) == "yes").sum()
    for place in (0, len(report.numbers["threshold"]) // 2):
        slide_to(browser, place)
        called = (scores >= report.numbers["threshold"][place]).sum()
        assert number(browser, "alarms") == called
        assert number(browser, "alarms-a-day") == pytest.approx(called, abs=0.51)
    assert not browser.find_elements(By.CSS_SELECTOR, "[data-out='precision']")
    assert complaints(browser) == []


def test_a_table_that_goes_on_shows_so(browser, judged, tmp_path):
    look_like(browser, PHONE)
    page = open_page(browser, judged[0].html, tmp_path)
    scrolls = "return [...document.querySelectorAll('.scroll')]"
    assert page.execute_script(f"{scrolls}.some(box => box.scrollWidth > box.clientWidth)")
    # The shadow stays at the edge, the paper that covers it moves with the table.
    layers = page.execute_script(
        f"{scrolls}.map(box => getComputedStyle(box).backgroundAttachment)"
    )
    assert set(layers) == {"local, local, scroll, scroll"}


@pytest.fixture(scope="session", params=[10, 50])
def report_on_classes(request):
    """A report on a model of many classes, and how many there are."""
    rng = np.random.default_rng(0)
    codes = np.arange(1500) % request.param
    labels = np.array([f"a class {k}" for k in range(request.param)])
    X = rng.normal(0, 2, (request.param, 5))[codes] + rng.normal(size=(1500, 5))
    clf = LogisticRegression(max_iter=2000).fit(X, labels[codes])
    return make_report(clf, X, labels[codes], n_repeats=0, n_resamples=20), request.param


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_many_classes_can_be_read(browser, report_on_classes, tmp_path, size):
    report, n_classes = report_on_classes
    look_like(browser, size)
    page = open_page(browser, report.html, tmp_path)
    assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth;")
    for region in page.find_elements(By.CSS_SELECTOR, ".each-class .scroll"):
        # What is wider than the window is scrolled by itself; names stay in view.
        left, width, name = page.execute_script(
            "const r = arguments[0]; r.scrollLeft = 1e6; const n = r.querySelector('tbody th');"
            "return [r.getBoundingClientRect().left, r.clientWidth,"
            " n && n.getBoundingClientRect().left];",
            region,
        )
        assert width <= size[0]
        assert name is None or name == pytest.approx(left, abs=1)
    drawn = page.find_elements(By.CSS_SELECTOR, "svg.matrix")
    assert len(drawn) == (n_classes == 50)
    for matrix in drawn:
        sides, heights = page.execute_script(
            "const all = s => [...arguments[0].querySelectorAll(s)];"
            "return [all('rect').map(e => e.getBoundingClientRect().width),"
            " all('text').map(e => e.getBoundingClientRect().height)];",
            matrix,
        )
        assert min(sides) > 10
        assert min(heights) > 9
        assert len(heights) == n_classes
    assert complaints(page) == []
