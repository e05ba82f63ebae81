"""Published figures on the EURLEX57K test split, as data.

The rows of the methods and the curves are from "Extreme Multi-Label Legal Text Classification: A
Case Study in EU Legislation" (Chalkidis et al., 2019; mean of five runs). The rows of other systems
are on the same data and the same test split: BERT-base from "Large-Scale Multi-Label Text
Classification on EU Legislation" (ACL 2019), BERT-LWAN from "An Empirical Study on Large-Scale
Multi-Label Text Classification Including Few and Zero-Shot Labels" (EMNLP 2020), HiDEC from
"Hierarchical Text Classification as Sub-hierarchy Sequence Generation" (AAAI 2023), eurovoc_en from
the European Parliament's model card, LibMultiLabel's networks from its own benchmark, and
LibMultiLabel's SVM and omikuji's trees measured on two CPU cores. SemSup-XC is from "SemSup-XC:
Semantic Supervision for Zero and Few-shot Extreme Classification" (arXiv:2301.11309).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from labelwise.evaluation.runs import DataRecord

Figures = dict[str, dict[str, float]]
"""group → measure → figure, as in a run."""


@dataclass(frozen=True)
class Published:
    """One published row: what its authors call it, where it is from, and its figures."""

    name: str
    source: str
    figures: Figures
    note: str = ""
    curves: dict[str, tuple[float, ...]] = field(default_factory=dict)  # measure → K = 1..10


def published_for(method: str, data: DataRecord) -> tuple[Published, ...]:
    """The published rows of a method; none on other data than the whole of EURLEX57K."""
    return BY_METHOD.get(method, ()) if is_eurlex57k(data) else ()


def is_eurlex57k(data: DataRecord) -> bool:
    """Whether a run saw the complete EURLEX57K with the published groups of labels."""
    return [data.counts.get(split) for split in ("train", "dev", "test")] == [
        45_000,
        6_000,
        6_000,
    ] and data.groups == {"frequent": 746, "few": 3_362, "zero": 163}


def published_hidden(data: DataRecord) -> tuple[Published, ...]:
    """The rows quoted beside a view of EURLEX57K in which labels are hidden from training."""
    hidden, seen = data.hidden or {}, data.groups["frequent"] + data.groups["few"]
    same = hidden.get("data") == "eurlex57k" and data.counts.get("test") == 6_000
    return (SEMSUP_XC,) if same and seen == 3_136 else ()


_TABLE = """
Exact Match          .097 .099 .120  .219 .201  .111 .074  .194 .186
Logistic Regression  .710 .741 .539  .767 .781  .508 .470  .011 .011
BIGRU-ATT            .758 .789 .689  .799 .813  .631 .580  .040 .027
HAN                  .746 .778 .680  .789 .805  .597 .544  .051 .034
CNN-LWAN             .716 .746 .642  .761 .772  .613 .557  .036 .023
BIGRU-LWAN           .766 .796 .698  .805 .819  .662 .618  .029 .019
Z-CNN-LWAN           .684 .717 .618  .730 .745  .495 .454  .321 .264
Z-BIGRU-LWAN         .718 .752 .652  .764 .780  .561 .510  .438 .345
ENSEMBLE-LWAN        .766 .796 .698  .805 .819  .662 .618  .438 .345
MAX-HSS              .737 .773 .671  .784 .803  .463 .443  .039 .028
LW-HAN               .721 .761 .669  .766 .790  .412 .402  .039 .026
"""
"""RP@5, nDCG@5, micro-F1 of all labels; RP@5, nDCG@5 of frequent, few-shot, zero-shot ones."""

_CURVES = """
BIGRU-ATT RP   .899 .853 .807 .775 .758 .758 .779 .797 .812 .824
BIGRU-ATT P    .899 .850 .789 .720 .654 .592 .536 .487 .444 .407
BIGRU-ATT R    .204 .380 .517 .615 .685 .735 .769 .793 .811 .824
HAN RP         .894 .842 .796 .762 .746 .746 .765 .784 .799 .811
HAN P          .894 .839 .777 .708 .643 .582 .527 .478 .437 .401
HAN R          .203 .376 .510 .605 .675 .723 .756 .780 .798 .811
BIGRU-LWAN RP  .907 .862 .814 .783 .766 .766 .786 .807 .823 .836
BIGRU-LWAN P   .907 .859 .796 .728 .661 .598 .542 .494 .450 .414
BIGRU-LWAN R   .205 .383 .521 .621 .692 .742 .776 .803 .821 .836
"""
"""K = 1 to 10."""


def _read_paper() -> dict[str, Published]:
    """The paper's rows by name."""
    curves: dict[str, dict[str, tuple[float, ...]]] = {}
    for line in _CURVES.split("\n")[1:-1]:
        name, measure, *cells = line.split()
        curves.setdefault(name, {})[measure] = tuple(map(float, cells))
    rows = {}
    for line in _TABLE.split("\n")[1:-1]:
        name, *cells = line.rsplit(maxsplit=9)
        values = list(map(float, cells))
        figures: Figures = {
            "all": {"RP@5": values[0], "nDCG@5": values[1], "micro-F1": values[2]},
            "frequent": {"RP@5": values[3], "nDCG@5": values[4]},
            "few": {"RP@5": values[5], "nDCG@5": values[6]},
            "zero": {"RP@5": values[7], "nDCG@5": values[8]},
        }
        rows[name] = Published(name, "published", figures, curves=curves.get(name, {}))
    return rows


PAPER = _read_paper()
"""The rows of the paper, by the names it gives them."""


def _all(rp: float, ndcg: float, micro_f1: float) -> Figures:
    return {"all": {"RP@5": rp, "nDCG@5": ndcg, "micro-F1": micro_f1}}


_FIRST_500 = "first 500 tokens, GloVe fine-tuned, kernel 8"
_UNIGRAMS = (
    "omikuji 0.5.2, 57k unigrams, sublinear tf, defaults, beam 30, four minutes on two cores"
)

BERT_BASE = Published("BERT-base", "ACL 2019", _all(0.796, 0.823, 0.732), "fine-tuned")
CNN_LWAN = Published("CNN-LWAN", "LibMultiLabel", _all(0.780, 0.805, 0.717), _FIRST_500)
BIGRU_LWAN = Published("BiGRU-LWAN", "LibMultiLabel", _all(0.778, 0.806, 0.713), _FIRST_500)
BERT_LWAN = Published("BERT-LWAN", "LibMultiLabel", _all(0.785, 0.810, 0.728), "first 500 tokens")
BERT_LWAN_2020 = Published(
    "BERT-LWAN",
    "EMNLP 2020",
    {
        "all": {"RP@5": 0.803, "nDCG@5": 0.829},
        "frequent": {"RP@5": 0.843, "nDCG@5": 0.854},
        "few": {"RP@5": 0.699, "nDCG@5": 0.650},
    },
)
HIDEC = Published(
    "HiDEC + HBM",
    "AAAI 2023",
    {"all": {"micro-F1": 0.7648, "macro-F1": 0.2877}},
    "it uses the hierarchy of the labels; how labels without gold count in its macro-F1 is not "
    "said",
)
EUROVOC_EN = Published(
    "eurovoc_en",
    "European Parliament",
    {"all": {"nDCG@5": 0.8079, "micro-F1 tuned": 0.7233}},
    "by its model card; trained on 200,000 documents and 7,331 labels, micro-F1 at .34",
)
SEMSUP_XC = Published(
    "SemSup-XC",
    "arXiv 2023",
    {"zero": {"P@1": 0.493, "R@10": 0.624}, "all": {"P@1": 0.870, "R@10": 0.629}},
    "another draw of the same sizes, 3,136 labels seen and 1,057 unseen, which is not public; it "
    "reads descriptions of the labels collected from the web",
)
SVM = Published(
    "SVM",
    "LibMultiLabel",
    {
        "all": {"RP@5": 0.806, "nDCG@5": 0.830, "micro-F1 tuned": 0.745},
        "few": {"RP@5": 0.738, "nDCG@5": 0.696},
    },
    "LibMultiLabel 0.10, 57k unigrams, squared hinge, C = 1, nine minutes on two cores; threshold "
    "lowered to -.3 for micro-F1",
)
PARABEL = Published(
    "Parabel",
    "omikuji",
    {"all": {"RP@5": 0.795, "nDCG@5": 0.819}, "few": {"RP@5": 0.650, "nDCG@5": 0.624}},
    _UNIGRAMS,
)
BONSAI = Published(
    "Bonsai",
    "omikuji",
    {
        "all": {"RP@5": 0.798, "nDCG@5": 0.822, "micro-F1 tuned": 0.735},
        "few": {"RP@5": 0.675, "nDCG@5": 0.643},
    },
    f"{_UNIGRAMS}; threshold lowered to .2 for micro-F1",
)

BY_METHOD: dict[str, tuple[Published, ...]] = {
    "bigru-att": (PAPER["BIGRU-ATT"],),
    "bigru-lwan": (PAPER["BIGRU-LWAN"], BIGRU_LWAN),
    "cnn-lwan": (PAPER["CNN-LWAN"], CNN_LWAN),
    "ensemble-lwan": (PAPER["ENSEMBLE-LWAN"],),
    "exact-match": (PAPER["Exact Match"],),
    "han": (PAPER["HAN"],),
    "logistic": (PAPER["Logistic Regression"],),
    "lw-han": (PAPER["LW-HAN"],),
    "max-hss": (PAPER["MAX-HSS"],),
    "svm": (SVM,),
    "tree": (BONSAI, PARABEL),
    "z-bigru-lwan": (PAPER["Z-BIGRU-LWAN"],),
    "z-cnn-lwan": (PAPER["Z-CNN-LWAN"],),
}

OTHERS: tuple[Published, ...] = (BERT_BASE, BERT_LWAN, BERT_LWAN_2020, HIDEC, EUROVOC_EN)
"""Systems that no method of ours stands for."""

CURVES: tuple[Published, ...] = tuple(row for row in PAPER.values() if row.curves)
"""The rows that were also published over K = 1..10."""
