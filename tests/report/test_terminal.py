# SPDX-License-Identifier: Apache-2.0
"""The table in the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from weir import report
from weir.measure.delay import point_of
from weir.procedures.latency.section_rows import delay_rows
from weir.report import terminal
from weir.results.result import Result

from .disturbed import disturbed
from .hostile import hostile
from .latency_runs import latency_run
from .synthetic import result


def printed(made: Result, columns: int) -> str:
    """What a console of that width shows; without a terminal rich takes 80."""
    out = io.StringIO()
    Console(file=out, width=columns, color_system=None).print(terminal.table(made))
    return out.getvalue()


def tables(text: str) -> str:
    """Without heading and summary, which name technologies too."""
    return text[text.index("\nFrame ") :]


def of_large_rates() -> Result:
    made = result()
    for found in (one for setup in made.setups for case in setup.cases for one in case.throughput):
        if found.load_pps is not None:
            found.load_pps = found.load_min_pps = 98_765_432.0
            found.load_max_pps, found.l2_bps = 2 * 98_765_432.0, 4 * 98_765_432.0 * 8 * 1518
    return made


@pytest.mark.parametrize("columns", [80, 120, 200])
@pytest.mark.parametrize("made", [result(), of_large_rates()], ids=["usual", "large rates"])
def test_nothing_is_cut_and_both_goals_are_side_by_side(made: Result, columns: int) -> None:
    text = printed(made, columns)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= columns
    heads = [line.split() for line in text.splitlines() if line.startswith("Frame")]
    assert heads == [["Frame", "Technology", *["Mpps", "Gbit/s", "ratio"] * 2]] * 2


def test_in_a_narrow_terminal_each_goal_has_a_table_of_its_own() -> None:
    text = printed(result(), 60)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 60
    assert sum(line.startswith("Frame") for line in text.splitlines()) == 2 * 2


def test_a_pipe_gets_plain_text_and_a_terminal_its_own_width() -> None:
    piped, shown = io.StringIO(), io.StringIO()
    terminal.show(result(), Console(file=piped, width=40))
    terminal.show(result(), Console(file=shown, width=80, force_terminal=True, color_system="standard"))
    assert piped.getvalue() == report.render(result(), "terminal")
    assert "\x1b[" in shown.getvalue()
    assert "…" not in shown.getvalue()


def test_plain_text_has_no_escapes_and_no_blanks_at_the_ends_of_lines() -> None:
    text = report.render(result(), "terminal")
    assert "\x1b" not in text
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_hostile_texts_are_folded_and_not_cut() -> None:
    text = report.render(hostile(result()), "terminal")
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "…" not in text


def test_each_chain_and_frame_has_a_row_for_each_technology() -> None:
    text = tables(report.render(result(), "terminal")).partition("Left out here")[0]
    for technology in ("direct", "linux-bridge", "ovs", "ovs-dpdk"):
        rows = [line for line in text.splitlines() if technology in line.split()[:3]]
        assert len(rows) == 2 * 4, technology


def test_table_shows_rate_gbits_ratio_and_spread_of_both_goals() -> None:
    made = result()
    case = made.setups[0].cases[0]
    for found, load_pps, low in zip(case.throughput, (2_000_000.0, 2_500_000.0), (0.9, 0.8), strict=True):
        found.load_pps, found.load_min_pps, found.load_max_pps = load_pps, load_pps * low, load_pps * 1.05
        found.l2_bps = load_pps * 512
    base = next(s for s in made.setups if s.technology == "linux-bridge").cases[0]
    for found in base.throughput:
        found.load_pps = 500_000.0
    line = next(line for line in tables(report.render(made, "terminal")).splitlines() if " direct " in line)
    for cell in ("2.000", "±10%", "1.024", "4.00", "2.500", "±20%", "1.280", "5.00"):
        assert cell in line.split(), cell


def test_table_says_what_is_refused_and_why() -> None:
    assert "sr-iov: no network card with virtual functions" in report.render(result(), "terminal")


def test_irregular_is_a_dash_with_a_flag_and_a_reason_and_never_a_number() -> None:
    text = report.render(result(), "terminal")
    line = next(line for line in text.splitlines() if line.split()[:1] == ["ovs"] and " I " in line)
    assert line.split() == ["ovs", *["–", "–", "I", "–", "–"] * 2]
    whole = " ".join(terminal.render(result(), whole=True).split())
    assert "ovs PVP, frame IMIX a7d4g: NDR and PDR irregular: the lowest load" in whole


def test_flags_are_beside_the_rate_and_explained() -> None:
    text = report.render(disturbed(), "terminal")

    rows = [line.split()[-6:] for line in tables(text).splitlines()[:8] if "." in line]
    assert [cell for row in rows for cell in row if cell.isupper()] == ["T", "L", "SD"]
    for said in ("T tester-bound", "L out of time", "S slower state", "D disturbed"):
        assert said in text
        assert f"{said}:" in terminal.render(disturbed(), whole=True)


def of_many_doubts() -> Result:
    """48 cases with every kind of doubt, each case with reasons of its own."""
    made = result(3)
    for number, (_, case) in enumerate(made.cases()):
        for one in case.throughput:
            one.tester_bound = one.unsteady = one.out_of_time = one.load_pps is not None
            one.slower_times, one.farther_times, one.left_out_share = 1.4, 4.6, 0.9
            one.why = f"Reason {number} of {one.goal}, with quite some words that say what came in between."
        if number % 5 == 0:
            case.problem = f"gone {number}"
    return made


def below_the_tables(text: str) -> list[str]:
    return text[text.index("Read with care") :].splitlines()


def test_remarks_below_the_tables_fit_a_small_terminal_and_name_where_the_rest_is() -> None:
    lines = below_the_tables(printed(of_many_doubts(), 100))
    assert len(lines) <= 24, "with every kind of doubt there is"
    assert "`weir report -v` of this run and its HTML page have the rest: " in " ".join(lines)
    usual = below_the_tables(printed(disturbed(), 80))
    assert len(usual) <= 20
    rest = ("Flags", "Read with care", "This machine was noisy", "How to read it")
    for title in rest:
        assert title in " ".join(" ".join(usual).partition("have the rest: ")[2].split())


def test_what_the_numbers_rest_on_is_always_said() -> None:
    text = " ".join(printed(disturbed(), 80).split())
    assert "What the numbers rest on – Virtual links: no physical network card took part." in text


def test_the_whole_report_has_a_sentence_for_each_goal_of_each_case() -> None:
    text = " ".join(terminal.render(of_many_doubts(), whole=True).split())
    for said in ("gone 5", "frame 1518: NDR", "What the numbers rest on", "How to read it"):
        assert said in text
    assert "have the rest" not in text


def test_a_run_without_doubts_has_no_remarks_but_where_to_read_what_columns_mean() -> None:
    made = result()
    for setup in made.setups:
        setup.refused = None
        setup.cases = [case for case in setup.cases if all(one.load_pps for one in case.throughput)]
        for case in setup.cases:
            case.trials, case.curve = [], []
            for one in case.throughput:
                one.why, one.tester_bound, one.unsteady = None, False, False
                one.load_min_pps = one.load_max_pps = one.load_pps
    text = report.render(made, "terminal")
    assert "Read with care" not in text
    assert " ".join(text.split()).endswith("How to read it.")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_an_answer_out_of_time_is_both_its_bounds_and_never_the_lower_one_alone(columns: int) -> None:
    lines = printed(disturbed(), columns).splitlines()
    at = next(number for number, line in enumerate(lines) if line.split()[:1] == ["ovs"])
    assert lines[at].split() == ["ovs", "0.100–", "–", "L", "0.0512–", "–"]
    assert lines[at + 1].split() == ["0.250", "0.128"]


def test_a_delay_of_an_invalid_trial_says_so() -> None:
    run = latency_run()
    run.setups[0].cases[0].delays[0].trials[0].valid = False
    assert terminal.render(run).count("(invalid)") == 2  # of its delay and of what was lost


def test_a_delay_is_of_the_valid_trial_where_another_is_invalid_and_says_how_many_are() -> None:
    """The invalid one's were those of a core that others had: the largest of all."""
    run = latency_run(("direct",))
    point = run.setups[0].cases[0].delays[0]
    (good,) = point.trials
    bad = good.model_copy(deep=True)
    bad.valid = False
    for one in bad.streams:
        assert one.latency is not None
        one.latency.p99_us *= 1000
    point.trials = [good, bad]
    (row,) = delay_rows(run)
    worst = next(one for one in good.streams if one.direction == point.worst_direction)
    assert row.stream == worst
    assert row.load_text.endswith("(1 of 2 invalid)")
    assert point_of("50% PDR", 1e6, [good, bad]).worst_direction == point.worst_direction


def test_a_ratio_has_its_sign_and_where_there_is_room_its_interval() -> None:
    wide = next(line for line in tables(printed(disturbed(), 80)).splitlines() if " direct " in line)
    assert wide.split()[2:] == ["≥8.000", "±5%", "T", "4.096", "≥20.0", "19.0–21.0"]
    narrow = next(line for line in tables(printed(disturbed(), 55)).splitlines() if " direct " in line)
    assert narrow.split()[2:] == ["≥8.000", "±5%", "T", "4.096", "≥20.0"]


def test_with_all_flags_and_bounds_two_goals_still_fit_80_columns() -> None:
    made = of_large_rates()
    for number, one in enumerate(one for s in made.setups for c in s.cases for one in c.throughput):
        if one.load_pps is not None:
            one.slower_times, one.left_out_share = 1.4, 0.9
            one.tester_bound, one.out_of_time = number % 3 == 0, number % 3 == 1
            one.lower_bound_pps, one.upper_bound_pps = one.load_pps, 2 * one.load_pps
    text = printed(made, 80)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    heads = [line.split() for line in text.splitlines() if line.startswith("Frame")]
    assert heads == [["Frame", "Technology", *["Mpps", "Gbit/s", "ratio"] * 2]] * 2


def test_a_noisy_machine_is_called_noisy_and_a_quiet_one_is_not() -> None:
    assert "This machine was noisy" in report.render(result(), "terminal")
    quiet = result()
    for setup in quiet.setups:
        for case in setup.cases:
            case.trials, case.curve = [], []
            for found in case.throughput:
                found.load_min_pps = found.load_max_pps = found.load_pps
    assert "noisy" not in report.render(quiet, "terminal")


def test_a_flag_of_one_goal_is_not_beside_the_other() -> None:
    made = result()
    ndr, pdr = made.setups[0].cases[0].throughput
    ndr.unsteady, pdr.slower_times = True, 1.4
    line = next(line for line in tables(report.render(made, "terminal")).splitlines() if " direct " in line)
    cells = [cell for cell in line.split() if cell.isupper()]
    assert cells == ["U", "S"]
    assert line.index(" U ") < len(line) / 2 < line.index(" S ")


def test_a_case_that_was_given_up_is_flagged_at_every_goal() -> None:
    made = result()
    made.setups[0].cases[0].problem = "the port is gone"
    line = next(line for line in tables(report.render(made, "terminal")).splitlines() if " direct " in line)
    assert line.split().count("X") == 2


def test_an_interrupted_run_says_so() -> None:
    assert "Interrupted" in report.render(result(interrupted=True), "terminal")


@pytest.mark.parametrize("format_", ["terminal", "html"])
def test_a_run_that_was_killed_is_no_full_run_of_no_time(format_: str) -> None:
    said = report.render(result(finished_at=None, seconds=0.0), format_)
    assert "Not finished" in said
    assert "still measured, or killed" in said
    assert "0.0 s" not in said


def test_one_goal_and_three_goals_are_shown_too() -> None:
    for count in (1, 3):
        made = result()
        for setup in made.setups:
            for case in setup.cases:
                first = case.throughput[0]
                case.throughput = [
                    first.model_copy(update={"goal": f"goal{index}"}) for index in range(count)
                ]
        text = report.render(made, "terminal")
        assert all(f"goal{index}" in text for index in range(count))
        assert max(len(line) for line in text.splitlines()) <= 100


def test_a_lab_title_is_text_and_not_console_markup() -> None:
    out = io.StringIO()
    made = result(title="[red]plain[/red] [link=http://x]y[/link]")
    Console(file=out, width=100, force_terminal=True).print(terminal.table(made))
    assert "[red]plain[/red] [link=http://x]y[/link]" in out.getvalue()


def test_a_result_without_setups_is_still_a_report() -> None:
    for name in report.FORMATS:
        assert report.render(result(setups=[]), name)


def test_chains_under_one_technology_are_rows_of_one_table() -> None:
    whole = result()
    alone = whole.model_copy(
        update={"setups": [setup for setup in whole.setups if setup.technology == "direct"]}
    )
    said = tables(terminal.render(alone.model_copy(update={"baseline": "direct"})))
    lines = [line for line in said.splitlines() if "PVP" in line or "PVVP" in line]
    assert "Chain" in said
    assert "ratio" not in said.split("Flags")[0]
    assert lines[0].split()[:2] == ["64", "PVP"]
    assert lines[1].split()[0] == "PVVP"
