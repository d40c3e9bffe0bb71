# SPDX-License-Identifier: Apache-2.0
"""Runs of a campaign over several hosts lead to each other, and pages say what each host measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from weir.results.result import Result
from weir.store.store import Store
from weir.web import links

from .stored import CAMPAIGN, client, filled, nightly, on_hosts
from .test_odd import damage
from .test_pages import text_of

PAGE = links.campaign(CAMPAIGN)


def rows(html: str, table: str) -> list[list[str]]:
    """The cells of a table's body, as texts."""
    of = html.partition(f'aria-label="{table}"')[2].partition("</table>")[0].partition("<tbody>")[2]
    lines = re.findall(r"<tr\b.*?</tr>", of, flags=re.DOTALL)
    return [[text_of(cell) for cell in re.findall(r"<t[hd]\b.*?</t[hd]>", line)] for line in lines]


def test_a_campaigns_page_says_what_each_host_measured_and_what_nobody_has(weir: TestClient) -> None:
    html = weir.get(PAGE).text
    assert "points measured 15 of 18 rounds of each case 3 runs, one a host 2" in text_of(html)
    assert rows(html, "Hosts of the campaign") == [
        ["alpha", "hosts-alpha", "Imaginary 1000 @ 2.50GHz", "11", ""],
        ["beta", "hosts-beta", "Imaginary 1000 @ 2.50GHz", "4", ""],
    ]
    measured = {tuple(row[1:3]): row[3:] for row in rows(html, "What each measured")}
    assert len(measured) == 6
    assert re.fullmatch(r"2 rounds, 2\.9\d\d|2 rounds, 3\.0\d\d", measured["direct", "64 B"][0])
    assert re.fullmatch(r"1 round, 2\.9\d\d|1 round, 3\.0\d\d", measured["direct", "64 B"][1])
    assert measured["direct", "64 B"][2] == "none"
    assert measured["ovs", "1518 B"][1:] == ["refused", "2 of 3"]
    assert "beta cannot measure ovs PVP: no Open vSwitch" in text_of(html)
    assert f'href="{links.compare(["hosts-alpha", "hosts-beta"]).replace("&", "&amp;")}"' in html
    assert "Evidence" in weir.get(links.run("hosts-alpha")).text


def test_a_runs_page_leads_to_the_other_runs_of_its_campaign(weir: TestClient) -> None:
    html = weir.get("/runs/hosts-alpha").text
    assert f'<a href="{PAGE}">campaign {CAMPAIGN}</a>' in html
    assert '<a href="/runs/hosts-beta">hosts-beta</a>' in html
    assert "One of 2 runs of campaign nightly-on-hosts-1" in text_of(html)
    assert [row[1] for row in rows(html, "Hosts of the campaign")] == ["hosts-alpha this one", "hosts-beta"]
    assert "campaign-title" not in weir.get("/runs/nightly-00").text


def test_a_labs_page_has_the_newest_results_of_all_hosts_and_of_which_campaign_its_runs_are(
    weir: TestClient,
) -> None:
    html = weir.get("/labs/hosts").text
    newest = text_of(html).partition("Newest results")[2].partition("History")[0]
    assert "PVP on alpha direct" in newest
    assert "PVP on beta direct" in newest
    runs = rows(html, "Runs")
    assert [(row[1], row[4]) for row in runs] == [("hosts-beta", CAMPAIGN), ("hosts-alpha", CAMPAIGN)]
    assert len(re.findall(r"\d+ points? of its campaign left out", html)) == 2
    assert html.count(f'<td><a href="{PAGE}">') == 2
    assert "campaign" not in weir.get("/labs/nightly").text
    assert "PVP on" not in weir.get("/labs/nightly").text


def test_the_front_page_leads_to_the_newest_campaign_of_a_lab(weir: TestClient) -> None:
    html = weir.get("/").text
    of_lab = html.partition('href="/labs/hosts">hosts</a></h2>')[2].partition("</section>")[0]
    assert f'newest <a href="{PAGE}">2026-01-01 01:00 UTC</a>, a campaign of 2 runs, one a host' in of_lab
    assert "PVP on alpha" in text_of(of_lab)
    nights = html.partition('href="/labs/nightly">nightly</a></h2>')[2].partition("</section>")[0]
    assert 'newest <a href="/runs/nightly-39">' in nights


def test_a_campaign_that_goes_on_has_each_time_what_is_stored_by_then(tmp_path: Path) -> None:
    alpha, beta = on_hosts()
    for run in (alpha, beta):
        run.finished_at = None
        assert run.campaign is not None
        run.campaign.left_out = []
    place = filled(tmp_path / "results.db", [alpha])
    weir = client(place)
    said = text_of(weir.get(PAGE).text)
    assert "points measured 11 of 18 not finished" in said
    assert "they were left out" not in said
    filled(place, [beta])
    assert "points measured 15 of 18 not finished" in text_of(weir.get(PAGE).text)
    assert "15 of its 18 points are measured" in text_of(weir.get("/runs/hosts-alpha").text)


def test_a_campaign_of_which_there_is_no_run_is_not_there(weir: TestClient) -> None:
    answer = weir.get("/campaigns/none")
    assert answer.status_code == 404
    assert "The store has no run of a campaign none." in text_of(answer.text)


def test_a_run_of_the_campaign_that_cannot_be_read_leaves_the_page_of_another(tmp_path: Path) -> None:
    place = filled(tmp_path / "results.db", on_hosts())
    damage(place, "UPDATE weir_setup SET document = '{}' WHERE number = 4")
    weir = client(place)
    answer = weir.get("/runs/hosts-alpha")
    assert answer.status_code == 200
    assert "The other runs of this one's campaign cannot be shown" in text_of(answer.text)
    assert "Evidence" in answer.text
    assert weir.get(PAGE).status_code == 503


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_run_that_went_on_and_ended_again_has_the_page_of_then(
    tmp_path: Path, *, interrupted: bool
) -> None:
    run: Result = nightly(0)
    run.interrupted, run.title = True, "as it was first"
    place = filled(tmp_path / "results.db", [run])
    weir = client(place)
    assert "as it was first" in text_of(weir.get("/runs/nightly-00").text)
    with Store(place) as store:
        run.interrupted, run.title, run.finished_at = interrupted, "as it is now", "2026-01-01T09:00:00Z"
        store.update(run)
    assert "as it is now" in text_of(weir.get("/runs/nightly-00").text)
