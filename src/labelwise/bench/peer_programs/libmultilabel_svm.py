"""The peer, run in an environment of its own: LibMultiLabel's one-vs-rest SVM on unigrams.

    python libmultilabel_svm.py TRAIN.tsv TEST.tsv OUT

Reads ``labels<TAB>text`` a line, writes the scores of the test documents (OUT/scores.npy), the
label of each column (OUT/labels.json) and what it took (OUT/cost.json).
"""

import json
import resource
import sys
import time
from pathlib import Path

import libmultilabel
import numpy as np
from labelled_lines import read
from libmultilabel import linear


def main(train: str, test: str, out: str) -> None:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    data = {"data_format": "txt", "train": {}, "test": {}}
    data["train"]["x"], data["train"]["y"] = read(train)
    data["test"]["x"], data["test"]["y"] = read(test)

    started = time.perf_counter()
    preprocessor = linear.Preprocessor(tfidf_params={"sublinear_tf": True, "min_df": 3})
    features = preprocessor.fit_transform(data)
    model = linear.train_1vsrest(features["train"]["y"], features["train"]["x"], verbose=False)
    fitted = time.perf_counter()
    scores = np.asarray(linear.predict_values(model, features["test"]["x"]), dtype=np.float32)
    scored = time.perf_counter()

    np.save(folder / "scores.npy", scores)
    (folder / "labels.json").write_text(json.dumps([str(c) for c in preprocessor.label_mapping]))
    cost = {
        "fit": fitted - started,
        "score": scored - fitted,
        "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "columns": int(features["train"]["x"].shape[1]),
        "version": getattr(libmultilabel, "__version__", None),
    }
    (folder / "cost.json").write_text(json.dumps(cost))


if __name__ == "__main__":
    main(*sys.argv[1:])
