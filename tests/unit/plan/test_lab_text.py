# SPDX-License-Identifier: Apache-2.0
"""Lab files with a placement: what is said runs, and what the user wrote stays."""

from __future__ import annotations

from pathlib import Path

from weir.lab import Lab, load_lab
from weir.plan.lab_text import placed_text
from weir.plan.placements import Placement, Split, placed_lab

CPUS = (0, 1, 2, 3)
TEXT = """\
# SPDX-License-Identifier: Apache-2.0
weir: 1
name: costs
chain: [[plain], [apart], PVP]
technology: [direct, linux-bridge]
baseline: far linux-bridge

functions:
  plain:                                  # the chain that is sold
    chain: &chain
      - {nf: acl, options: {default: permit, rules: some.rules}}
      - {nf: l3fwd}
  apart: {chain: *chain, architecture: separated, owners: 2, workers: 3}
  default: {nf: l2fwd}

technologies:
  direct: {wire: memory, cores: {tester: [3]}}   # rings
traffic:
  frames: [64, 512]                       # small and large
variants: {near: {cores: {functions: [2]}}, far: {cores: {functions: [3]}}}
quick:
  cores: {functions: [2]}
  traffic: {frames: [128]}
  measure: {repeats: 1}
"""
PLACEMENT = Placement((Split("dispatch", workers=2),), ((1, 1, 2),))


def rewritten(folder: Path, chain: str, placement: Placement = PLACEMENT) -> tuple[Lab, str, Lab]:
    """The placed lab, its text in another directory, and what that text is read as."""
    (folder / "there").mkdir()
    (folder / "some.rules").write_text("deny udp 10.0.0.0/16 any\n")
    source, target = folder / "lab.yml", folder / "there" / "planned.yml"
    source.write_text(TEXT)
    lab = load_lab(source, cpus=CPUS)
    chosen = next(one for one in lab.chains() if one.name == chain)
    placed = placed_lab(lab, chosen, placement, (0,))
    text = placed_text(TEXT, placed, chosen.functions, ["Made for a test."], target.parent)
    target.write_text(text)
    return placed, text, load_lab(target, cpus=CPUS)


def test_the_text_is_the_placed_lab(tmp_path: Path) -> None:
    placed, _, read = rewritten(tmp_path, "plain")
    assert read.functions == placed.functions
    assert (read.chain, read.technology, read.baseline) == ((("plain",),), ("direct",), "direct")
    cores = read.cores_for("direct")
    assert (cores.tester, cores.functions) == ((0,), (1, 2))
    assert read.traffic == placed.traffic


def test_comments_stay_after_the_header(tmp_path: Path) -> None:
    text = rewritten(tmp_path, "plain")[1]
    assert text.startswith("# Made for a test.\n# SPDX-License-Identifier: Apache-2.0\n")
    assert all(said in text for said in ("# the chain that is sold", "# rings", "# small and large"))


def test_an_alias_of_a_function_that_goes_is_written_out(tmp_path: Path) -> None:
    placed, text, read = rewritten(tmp_path, "apart")
    assert read.functions == placed.functions
    assert "plain" not in text


def test_files_are_named_from_the_new_directory(tmp_path: Path) -> None:
    assert "rules: ../some.rules" in rewritten(tmp_path, "plain")[1]


def test_the_quick_part_cannot_undo_the_placement(tmp_path: Path) -> None:
    rewritten(tmp_path, "plain")
    quick = load_lab(tmp_path / "there" / "planned.yml", quick=True, cpus=CPUS)
    assert quick.cores_for("direct").functions == (1, 2)
    assert quick.traffic.frames == ("64", "512")
    assert quick.measure.repeats == 1


def test_variants_which_have_cores_of_their_own_go(tmp_path: Path) -> None:
    assert rewritten(tmp_path, "plain")[2].variants == {}


def test_the_function_that_a_lab_leaves_out_is_written(tmp_path: Path) -> None:
    source = tmp_path / "lab.yml"
    source.write_text("weir: 1\nname: small\nchain: PVVP\ntechnology: direct\n")
    lab = load_lab(source, cpus=CPUS)
    placement = Placement((Split("run-to-completion"),) * 2, ((1,), (2,)))
    placed = placed_lab(lab, lab.chains()[0], placement, (0,))
    target = tmp_path / "planned.yml"
    target.write_text(placed_text(source.read_text(), placed, lab.chains()[0].functions, [], tmp_path))
    assert load_lab(target, cpus=CPUS).functions == placed.functions
