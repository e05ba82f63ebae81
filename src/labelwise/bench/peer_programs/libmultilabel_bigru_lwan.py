"""The peer, run in an environment of its own: LibMultiLabel's BiGRULWAN scores documents on a CPU.

    python libmultilabel_bigru_lwan.py REQUEST.json ANSWER.json

Its own network, of the sizes asked for and with random weights, and its own way of making a batch.
Writes the seconds that all documents took, the most memory that the process held, and the seconds
that one act took, each time.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from libmultilabel.nn.data_utils import generate_batch
from libmultilabel.nn.networks import BiGRULWAN

WARM_UP = 32  # documents


def main(asked: str, answer: str) -> None:
    request = json.loads(Path(asked).read_text())
    torch.set_num_threads(request["threads"])
    torch.manual_seed(0)
    found = np.load(Path(request["folder"]) / "documents.npz")
    tokens = torch.from_numpy(found["tokens"]).long()
    documents = [
        tokens[start : start + length]
        for start, length in zip(found["starts"], found["lengths"], strict=True)
    ]
    if request["by_length"]:
        documents.sort(key=len, reverse=True)
    network = BiGRULWAN(
        torch.randn(request["vocabulary"], request["width"]),
        num_classes=request["labels"],
        rnn_dim=2 * request["units"],
    ).eval()

    score(network, documents[-WARM_UP:], request)
    started = time.perf_counter()
    score(network, documents, request)
    seconds = time.perf_counter() - started
    peak = peak_memory()

    act = torch.from_numpy(found["act"]).long()
    calls = []
    for _ in range(request["calls"] + 3):
        started = time.perf_counter()
        score(network, [act], request)
        calls.append(time.perf_counter() - started)
    result = {"seconds": seconds, "peak memory": peak, "calls": calls[3:]}
    Path(answer).write_text(json.dumps(result))


def score(network, documents, request):
    """The probability of every label: what is kept is as large as ours."""
    scores = np.empty((len(documents), request["labels"]), dtype=np.float32)
    nothing = torch.zeros(0)  # a batch holds the labels too, which scoring has no use for
    with torch.no_grad():
        for at in range(0, len(documents), request["batch"]):
            part = documents[at : at + request["batch"]]
            batch = generate_batch([{"text": text, "label": nothing} for text in part])
            logits = network(batch)["logits"]
            scores[at : at + len(part)] = torch.sigmoid(logits).numpy()
    return scores


def peak_memory():
    """In bytes; not by getrusage, which begins with what the process had that started this one."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main(*sys.argv[1:])
