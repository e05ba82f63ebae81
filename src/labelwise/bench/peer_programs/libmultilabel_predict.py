"""The peer, run in an environment of its own: LibMultiLabel's linear prediction of many texts.

    python libmultilabel_predict.py TRAIN.tsv ACTS.tsv ANSWER.json

Trains a one-vs-rest SVM on ``labels<TAB>text`` lines, and says how many seconds the texts of the
others take from features to their best five labels, in batches of 256, and how many of the
processor.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from labelled_lines import read
from libmultilabel import linear

BATCH, TOP = 256, 5


def main(train: str, acts: str, answer: str) -> None:
    texts, labels = read(train)
    preprocessor = linear.Preprocessor(tfidf_params={"sublinear_tf": True, "min_df": 3})
    data = {"data_format": "txt", "train": {"x": texts, "y": labels}}
    features = preprocessor.fit_transform(data)
    model = linear.train_1vsrest(features["train"]["y"], features["train"]["x"], verbose=False)

    asked, _ = read(acts)
    began, worked = time.perf_counter(), time.process_time()
    for at in range(0, len(asked), BATCH):
        some = asked[at : at + BATCH]
        data = {"data_format": "txt", "test": {"x": some, "y": [[] for _ in some]}}
        values = linear.predict_values(model, preprocessor.transform(data)["test"]["x"])
        best = np.argsort(-np.asarray(values), axis=1)[:, :TOP]
        assert best.shape == (len(some), TOP)
    found = {
        "seconds": time.perf_counter() - began,
        "processor seconds": time.process_time() - worked,
    }
    Path(answer).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
