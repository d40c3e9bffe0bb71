# SPDX-License-Identifier: Apache-2.0
"""Pages say what the store has: labs first, what became worse above all, and runs as their reports do."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.report.synthetic import result
from tests.unit.store.made import run as bare_run
from weir.report import render
from weir.report.page import drawn
from weir.results.campaign import CampaignRecord, LeftOutRounds
from weir.results.model import MODEL_VERSION
from weir.results.result import Result
from weir.store.store import Store

from .stored import CHANGED, NIGHTS, client, filled, nightly


def text_of(html: str) -> str:
    """What a reader sees, in one line."""
    without = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", without)).split())


def test_a_step_where_the_lab_changed_is_told_with_its_keys_and_is_no_regression(tmp_path: Path) -> None:
    edited = []
    for night in range(12):
        one = nightly(night + CHANGED - 6)
        one.spec = {"name": "nightly", "traffic": {"ip": 4 if night < 6 else 6}}
        one.spec_sha256 = f"{night // 6:064}"
        edited.append(one)
    pages = client(filled(tmp_path / "results.db", edited))
    page, front = pages.get("/labs/nightly").text, text_of(pages.get("/").text)
    assert "keys of the lab changed there, too: traffic.ip" in text_of(page)
    assert 'class="move lab-changed"' in page
    assert 'class="move worse"' not in page
    assert "Worse than before" not in front


def test_the_front_page_begins_with_what_became_worse_and_has_each_lab_with_its_newest_results(
    weir: TestClient,
) -> None:
    page = weir.get("/").text
    said = text_of(page)
    assert f"labs 6 runs {NIGHTS + 2 + 8 + 3} newest" in said
    worse = said.partition("Worse than before")[2].partition("Every night")[0]
    assert "nightly direct PVP 1518 NDR on alpha ▼ -10" in worse
    assert "nightly direct PVP 64 NDR on alpha ▼ -10" in worse
    assert "linux-bridge" not in worse.partition("Technology")[0]
    # 2.7 Mpps: the newest night's median of three rounds around three millions less ten per cent.
    nights = page.partition('href="/labs/nightly">nightly</a></h2>')[2]
    assert re.search(r'<th scope="row">direct</th>\s*<td class="n big">2\.[67]\d\d</td>', nights)
    assert f'href="/runs/nightly-{CHANGED:02}" title="worse since nightly-{CHANGED:02}"' in page
    assert "All 6 figures, history and runs of nightly" in said


def test_a_labs_page_says_since_which_run_and_revision_a_level_is_there(weir: TestClient) -> None:
    said = text_of(weir.get("/labs/nightly").text)
    changed = said.partition("What changed")[2].partition("Newest results")[0]
    first = changed.partition("direct PVP")[2]
    assert "▼ -10" in first[:80]
    assert "2026-02-01 0.1+gold → 0.1+gnew" in first[:120]
    assert len(re.findall(r"▲ \+(9|10)\.\d%", changed)) == 2
    assert "linux-bridge" not in changed
    assert "Runs Newest first" in said
    assert f"nightly-{NIGHTS - 1:02} 2026-02-12 01:00 UTC alpha 6 –" in said


def charts(html: str) -> list[dict[str, object]]:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html)
    assert found is not None
    loaded: list[dict[str, object]] = json.loads(found[1])
    return loaded


def test_a_history_has_every_run_with_the_level_that_it_is_on(weir: TestClient) -> None:
    drawn = charts(weir.get("/labs/nightly?way=direct&frame=64").text)
    (only,) = drawn
    points = only["points"]
    assert isinstance(points, list)
    assert [point["run"] for point in points] == [f"nightly-{night:02}" for night in range(NIGHTS)]
    levels = [point["level"] for point in points]
    assert levels[:CHANGED] == pytest.approx([3.0] * CHANGED, rel=0.01)
    assert levels[CHANGED:] == pytest.approx([2.7] * (NIGHTS - CHANGED), rel=0.01)
    assert [point["run"] for point in points if point["outcome"]] == [f"nightly-{CHANGED:02}"]
    assert len(charts(weir.get("/labs/nightly").text)) == 6
    assert len(charts(weir.get("/labs/nightly?frame=1518").text)) == 3
    assert charts(weir.get("/labs/nightly?frame=9000").text) == []


def test_older_runs_are_on_further_pages(weir: TestClient) -> None:
    first, second = (weir.get(f"/labs/nightly?page={number}").text for number in (1, 2))
    runs = [set(re.findall(r'name="side" value="([^"]+)"', page)) for page in (first, second)]
    assert runs[0] | runs[1] == {f"nightly-{night:02}" for night in range(NIGHTS)}
    assert not runs[0] & runs[1]
    assert "page=2#runs" in first
    assert "page=3" not in second


def test_a_run_that_its_budget_ended_is_marked_in_the_list(tmp_path: Path) -> None:
    run = nightly(1)
    left = LeftOutRounds(name="ovs", chain="PVP", frame="64", measured=1, left_out=2)
    run.campaign = CampaignRecord(rounds=3, points=18, budget_s=60, left_out=[left])
    page = client(filled(tmp_path / "results.db", [run])).get("/labs/nightly").text
    assert '<b class="why">2 points left out</b>' in page


@pytest.mark.parametrize("path", ["/", "/labs/nightly"])
@pytest.mark.parametrize(
    ("by", "letter", "meaning"),
    [("tester_bound", "T", "tester-bound: within 10 % of"), ("lab_bound", "M", "most that the lab allows: ")],
)
def test_a_rate_that_the_tester_or_the_lab_bounds_is_a_bound_on_pages_of_many_too(
    tmp_path: Path, path: str, by: str, letter: str, meaning: str
) -> None:
    run = nightly(1)
    rate = run.setups[0].cases[0].throughput[0]
    rate.slower_times = 1.4
    setattr(rate, by, True)
    page = client(filled(tmp_path / "results.db", [run])).get(path).text
    (cell,) = set(re.findall(r'<td class="n big">(≥.*?</span>)', page, re.DOTALL))
    assert re.fullmatch(rf"≥[23]\.\d+ {letter} S", text_of(cell).strip())
    assert f'title="{meaning}' in cell


def test_a_runs_page_has_the_sections_of_its_report_word_for_word(weir: TestClient, place: Path) -> None:
    with Store(place, reading=True) as store:
        whole = store.load("whole-1")
    report = render(whole, "html")
    page = weir.get("/runs/whole-1").text
    sections = re.findall(r"<section\b.*?</section>", report, flags=re.DOTALL)
    assert len(sections) > 4
    for section in sections:
        assert section in page
    assert 'data-result="/drawn?name=whole-1"' in page
    assert '<a href="/data?name=whole-1" download>Save data</a>' in page
    assert "application/gzip+base64" not in page


def test_what_charts_are_drawn_of_is_what_the_report_carries(weir: TestClient, place: Path) -> None:
    answer = weir.get("/drawn?name=whole-1")
    assert answer.headers["content-encoding"] == "gzip"
    with Store(place, reading=True) as store:
        assert answer.text == drawn(store.load("whole-1"))


def test_the_data_of_a_run_are_the_result_as_it_is_stored(weir: TestClient, place: Path) -> None:
    answer = weir.get("/data?name=whole-1")
    assert answer.headers["content-encoding"] == "gzip"
    with Store(place, reading=True) as store:
        assert Result.read(answer.content) == store.load("whole-1")
    plain = weir.get("/data?name=whole-1", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == answer.content


@pytest.mark.parametrize("name", ["whole", "latest"])
def test_a_run_is_found_by_the_beginning_of_its_id_or_as_the_latest(weir: TestClient, name: str) -> None:
    answer = weir.get(f"/runs/{name}")
    # The hostile one begins likewise: its id goes on.
    assert answer.status_code == (404 if name == "whole" else 200)
    assert ("2 runs begin with" if name == "whole" else "whole-1") in text_of(answer.text)


def test_a_comparison_has_each_effect_in_words_and_as_a_picture(weir: TestClient) -> None:
    page = weir.get(
        "/compare?side=nightly-00,nightly-01,nightly-02&side=nightly-37,nightly-38,nightly-39"
    ).text
    said = text_of(page)
    assert "B nightly-37" in said
    assert "6 numbers: 2 worse, 2 better" in said
    row = re.search(r'<th scope="row" rowspan="1">direct</th>.*?</tr>', page, flags=re.DOTALL)
    assert row is not None
    assert re.search(r"-10\.\d%", row[0]) or re.search(r"-9\.\d%", row[0])
    assert 'class="forest worse"' in row[0]
    assert 'class="outcome worse"' in row[0]
    only = text_of(weir.get("/compare?side=nightly-00&side=nightly-39&only=changed").text)
    assert "linux-bridge" not in only


def test_of_several_sides_each_factor_has_a_line_for_each(weir: TestClient) -> None:
    page = weir.get("/compare?side=nightly-00&side=nightly-01&side=nightly-39&threshold=5").text
    assert page.count('rowspan="2">direct</th>') == 2
    assert page.count('<b class="letter">B</b>') == 1 + 6
    assert page.count('<b class="letter">C</b>') == 1 + 6
    assert "All sides together say how much samples vary" in page


def test_runs_that_are_chosen_newest_first_are_compared_with_the_oldest(weir: TestClient) -> None:
    said = text_of(weir.get("/compare?order=newest-first&side=nightly-39&side=nightly-00").text)
    assert "A nightly-00" in said
    assert "B nightly-39" in said


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/compare?side=nightly-00&side=nightly-00", 400, "named twice"),
        ("/compare?side=nightly-00&side=nowhere", 404, "has no run 'nowhere'"),
        ("/compare?side=nightly-00&side=,", 400, "expected ids of runs, with commas between"),
        ("/compare?side=a&side=b&threshold=many", 400, "threshold: expected per cent below 100"),
        ("/labs/nightly?page=0", 400, "page: expected a number from 1"),
        ("/labs/nowhere", 404, "has no run of a lab nowhere"),
        ("/runs/nowhere", 404, "has no run 'nowhere'"),
        ("/nothing/at/all", 404, "There is no page at this address."),
        ("/assets/../app.py", 404, "There is no"),
        ("/labs/", 404, "has no name"),
    ],
)
def test_what_is_not_there_or_makes_no_sense_is_said(
    weir: TestClient, path: str, status: int, says: str
) -> None:
    answer = weir.get(path)
    assert answer.status_code == status
    assert says in text_of(answer.text)


def test_a_run_that_came_meanwhile_is_there_at_once(tmp_path: Path) -> None:
    store = filled(tmp_path / "results.db", [nightly(0)])
    weir = client(store)
    assert "runs 1 " in text_of(weir.get("/").text)
    with Store(store) as writing:
        writing.begin(bare_run("another-1", lab="another"))
        said = text_of(weir.get("/").text)
        assert "labs 2 runs 2 " in said
        assert "another" in said
        assert "still measured" in said
        page = text_of(weir.get("/runs/another-1").text)
        assert "Not finished. What is stored so far is below." in page
    assert weir.get("/runs/another-1").status_code == 200


def test_without_a_store_the_front_page_says_how_to_make_one(tmp_path: Path) -> None:
    weir = client(tmp_path / "none.db")
    answer = weir.get("/")
    assert answer.status_code == 200
    assert "there is no store at" in text_of(answer.text)
    assert weir.get("/labs/any").status_code == 503
    filled(tmp_path / "none.db", [nightly(0)])
    assert "nightly" in weir.get("/").text


def test_of_too_few_runs_no_page_says_that_nothing_became_worse(tmp_path: Path) -> None:
    one = client(filled(tmp_path / "one.db", [nightly(0)]))
    many = client(filled(tmp_path / "many.db", [nightly(night) for night in range(8)]))
    for place, none in (("/", "nothing"), ("/labs/nightly", "none")):
        assert "on a worse level than before cannot be said yet" in text_of(one.get(place).text)
        assert f"on a worse level than before {none}" in text_of(many.get(place).text)


def test_what_has_no_rate_in_the_newest_run_stands_there_without_one(tmp_path: Path) -> None:
    run = nightly(0)
    for case in run.setups[0].cases:
        case.throughput[0].load_pps, case.throughput[0].rounds = None, []
    weir = client(filled(tmp_path / "results.db", [run]))
    for place in ("/", "/labs/nightly"):
        said = text_of(weir.get(place).text)
        assert "history PVP direct – – linux-bridge 1.983" in said


def test_rates_beside_others_programs_have_the_reports_letter_and_frames_are_in_the_order_of_size(
    tmp_path: Path,
) -> None:
    run = nightly(0)
    for setup in run.setups:
        setup.cases.reverse()  # as their last rounds were measured
    run.setups[0].cases[0].throughput[0].stall_labelled = True
    page = client(filled(tmp_path / "results.db", [run])).get("/labs/nightly").text
    said = text_of(page)
    assert "Technology 64 B history 1518 B history PVP direct" in said
    assert said.count(" D ") == 1
    assert page.count(">D</abbr>") == 1


def test_without_a_model_its_page_says_how_to_make_one_and_with_one_how_far_off_it_is(tmp_path: Path) -> None:
    store = filled(tmp_path / "results.db", [nightly(0)])
    none = client(store, tmp_path / "model.json").get("/model")
    assert none.status_code == 200
    assert "<code>weir model calibrate LAB</code>" in none.text
    fitted = [(2e6, 2.2e6, "nat"), (1e6, 1e6, "nat, l3fwd"), (5e5, 4e5, "acl")]
    document = {
        "version": MODEL_VERSION,
        "weir": "0.1",
        "lab": "predict",
        "created_at": "2026-11-01T00:00:00Z",
        "technology": "direct",
        "wire": "memory",
        "counter_hz": 2.5e9,
        "utilisation": 1.0,
        "core_distances_cycles": [],
        "memory": [],
        "parameters": [{"name": "nf nat", "cycles": 123.4, "deviation_cycles": 5.6}],
        "covariance": [[31.4]],
        "ranges": [],
        "options": {},
        "quality": {
            "mean_error": 0.1,
            "worst_error": 0.2,
            "left_out_deviation": 0.05,
            "conditional": {"scatter": 0.05, "times": 2.0},
            "blind": {"scatter": 0.05, "times": 2.0},
            "left_out": [{"text": "nat", "conditional_error": -0.0953, "blind_error": 0.0}],
            "row_deviation": 0.02,
        },
        "trials": [
            {
                "text": text,
                "measured_pps": measured,
                "visits_pps": [measured],
                "fitted_pps": told,
                "host_factor": 1.0,
                "lost_in_functions": 0.0,
                "settled": True,
            }
            for measured, told, text in fitted
        ],
        "fingerprint": json.loads(result().fingerprint.model_dump_json()),
    }
    (tmp_path / "model.json").write_text(json.dumps(document))
    page = client(store, tmp_path / "model.json").get("/model").text
    said = text_of(page)
    assert "mean error of fitted rates 10.0 %" in said
    trials = said.partition("Trials of the calibration")[2]
    assert trials.index("acl 0.500 0.400 -20.0%") < trials.index("nat 2.000 2.200 +10.0%")
    assert "nat +10.0% +0.0%" in said
    assert page.count("<circle") == 3
    assert "`" not in said
    assert "<code>weir model validate</code>" in page
