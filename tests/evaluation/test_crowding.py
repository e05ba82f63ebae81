"""Near-synonyms in the first five are counted, and a rule is worth what unseen documents say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import InputError
from labelwise.evaluation.crowding import (
    FOLDS,
    Crowding,
    lowered,
    measure_crowding,
    pairs,
    relatives_of,
)
from labelwise.evaluation.crowding_records import crowding_sections

SPACE = LabelSpace.from_counts(dict.fromkeys(("1", "11", "12", "2", "21", "3", "4", "5"), 60))
THESAURUS = Thesaurus.of(
    [
        Concept("1", "", "fruit"),
        Concept("11", "", "citrus fruit", broader=("1",)),
        Concept("12", "", "pip fruit", broader=("1",)),
        Concept("2", "", "fishing"),
        Concept("21", "", "fishing vessel", broader=("2",)),
        *(Concept(id, "", name) for id, name in (("3", "import"), ("4", "tax"), ("5", "aid"))),
    ]
)
FRUIT, CITRUS, PIP, FISHING, VESSEL, IMPORT, TAX, AID = range(8)


def test_relatives_are_one_step_up_or_down() -> None:
    found = relatives_of(SPACE, THESAURUS)
    assert found == {
        FRUIT: {CITRUS, PIP},
        CITRUS: {FRUIT},
        PIP: {FRUIT},
        FISHING: {VESSEL},
        VESSEL: {FISHING},
    }
    assert pairs([CITRUS, TAX, FRUIT, PIP], found) == [(CITRUS, FRUIT), (FRUIT, PIP)]
    assert Crowding.of([[CITRUS, FRUIT, PIP], [TAX, AID]], found) == Crowding(0.5, 1.0)


def test_a_relative_falls_once_the_other_was_taken_and_nothing_else_does() -> None:
    scores = np.array([[0.8, 0.9, 0.7, 0.1, 0.05, 0.6, 0.5, 0.02]], dtype=np.float32)
    relatives = relatives_of(SPACE, THESAURUS)
    found = lowered(scores, relatives, lambda _, __: 100.0)
    # Fruit goes with citrus fruit, so that pip fruit, its other relative, stays.
    assert np.argsort(-found[0])[:5].tolist() == [CITRUS, PIP, IMPORT, TAX, FISHING]
    np.testing.assert_allclose(found[0, [CITRUS, PIP, TAX]], [0.9, 0.7, 0.5], rtol=1e-5)
    np.testing.assert_array_equal(lowered(scores, {}, lambda _, __: 1.0), scores)


def acts(both: bool) -> tuple[np.ndarray, np.ndarray]:
    """100 acts on citrus fruit, which the model takes for fruit as well; gold has both or one."""
    draws = np.random.default_rng(0)
    scores = draws.uniform(0.01, 0.2, (100, 8)).astype(np.float32)
    scores[:, [CITRUS, FRUIT]] = 0.9, 0.8
    scores[:, [IMPORT, TAX, AID]] = 0.7, 0.6, 0.5
    scores[:, VESSEL] = 0.4
    gold = np.zeros((100, 8), dtype=bool)
    gold[:, [CITRUS, IMPORT, TAX, AID, FRUIT if both else VESSEL]] = True
    return scores, gold


def test_a_rule_is_chosen_where_gold_never_has_both() -> None:
    scores, gold = acts(both=False)
    found = measure_crowding(scores, gold, SPACE, THESAURUS, np.zeros((8, 8)))
    assert (found.gold.documents, found.model.documents) == (0, 1)
    assert found.right == {"both": 0, "first": 100, "second": 0, "none": 0, "narrower": 100}
    for rule in found.rules.values():
        assert rule.chosen > 0
        assert rule.held_out["RP@5"] == pytest.approx(1)
        assert rule.difference == pytest.approx(0.2)
        assert rule.p_value < 0.01


def test_a_document_has_no_say_in_the_rule_that_it_is_measured_with() -> None:
    """One fold alone would gain by a rule; the others, which choose for it, would lose."""
    scores, gold = acts(both=True)
    alone = np.random.default_rng(0).permutation(len(scores)) % FOLDS == 0
    gold[alone] = acts(both=False)[1][alone]
    found = measure_crowding(scores, gold, SPACE, THESAURUS, np.zeros((8, 8)))
    for rule in found.rules.values():
        assert rule.by_weight["0"]["RP@5"] > max(
            of["RP@5"] for weight, of in rule.by_weight.items() if float(weight) > 1
        )
        assert rule.held_out == found.plain
        assert rule.difference == 0


def test_the_company_of_two_labels_is_that_of_the_rarer_one() -> None:
    """Citrus fruit never stood without fruit, which stood often without: that is no reason to
    leave fruit out."""
    counts = dict.fromkeys(SPACE.ids, 60) | {"1": 6000}
    space = LabelSpace.from_counts(counts)
    assert space.ids == SPACE.ids
    scores, gold = acts(both=False)
    found = measure_crowding(scores, gold, space, THESAURUS, np.full((8, 8), 60))
    assert found.rules["together"].chosen == 0
    assert found.rules["same"].chosen > 0


def test_no_rule_is_chosen_where_gold_has_both() -> None:
    scores, gold = acts(both=True)
    found = measure_crowding(scores, gold, SPACE, THESAURUS, np.full((8, 8), 60))
    assert found.right["both"] == 100
    for rule in found.rules.values():
        assert rule.chosen == 0
        assert rule.held_out == found.plain
        assert rule.difference == 0


def test_the_report_shows_what_was_found_on_a_data_set_and_on_its_dev_file(tmp_path: Path) -> None:
    figures = {"RP@5": 0.712, "nDCG@5": 0.742}
    rule = {
        "by_weight": {"0": figures, "100": {"RP@5": 0.713}},
        "held_out": {"RP@5": 0.711},
        "p_value": 0.75,
    }
    record = {
        "method": "svm",
        "documents": 283,
        "gold": {"documents": 0.0},
        "model": {"documents": 0.085},
        "right": {"both": 0, "first": 18, "second": 9, "none": 1},
        "plain": figures,
        "rules": {"same": rule, "together": rule},
        "data": {"name": "acts-dev"},
    }
    path = tmp_path / "acts-dev" / "svm" / "crowding-seed-0.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record), "utf-8")
    for folder in ("acts", "acts-dev"):
        heading, _, table = crowding_sections(tmp_path / folder)
        assert heading == "## Near-synonyms"
        row = "| svm | acts-dev | 283 | .000 | .085 | 0 | 27 | 1 | .712 | .711 | .750 |"
        assert f"{row} .711 | .750 | .713 |" in table
    assert crowding_sections(tmp_path / "other") == []
    path.write_text(json.dumps({**record, "rules": {}}), "utf-8")
    with pytest.raises(InputError, match="`labelwise crowding` writes it anew"):
        crowding_sections(tmp_path / "acts")
