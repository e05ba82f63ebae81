"""Runs where Annif is installed: asks the service at argv[1] with Annif's own client, as JSON."""

from __future__ import annotations

import json
import sys

from annif_client import AnnifClient

address, texts = sys.argv[1], json.load(sys.stdin)
client = AnnifClient(api_base=f"{address}/v1/")
found = {
    "info": client.api_info,
    "projects": client.projects,
    "project": client.get_project("svm"),
    "suggest": client.suggest("svm", texts[0], limit=5, threshold=0.01),
    "batch": client.suggest_batch(
        "svm",
        [{"text": text, "document_id": f"doc-{n}"} for n, text in enumerate(texts)],
        limit=3,
    ),
}
try:
    client.get_project("no-such-project")
except ValueError as error:
    found["unknown"] = str(error)
try:
    client.learn("svm", [{"text": texts[0], "subjects": [{"uri": "http://example.org/1"}]}])
except Exception as error:
    found["learn"] = str(error)
print(json.dumps(found))
