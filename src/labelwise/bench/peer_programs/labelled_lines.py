"""What the peers' programs read, each in an environment of its own: ``labels<TAB>text`` lines."""

from pathlib import Path


def read(path: str) -> tuple[list[str], list[list[str]]]:
    texts, labels = [], []
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            gold, _, text = line.rstrip("\n").partition("\t")
            texts.append(text)
            labels.append(gold.split())
    return texts, labels
