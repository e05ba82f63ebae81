"""Small files of every format, written here or taken from the project's own test files."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path

ACT = """COMMISSION REGULATION (EC) No 9112/2001
of 5 January 2001
fixing the import duties on citrus fruit
THE COMMISSION OF THE EUROPEAN COMMUNITIES,
Having regard to the Treaty establishing the European Community,
Whereas the market in citrus fruit is in need of support,
HAS ADOPTED THIS REGULATION:
Article 1
The import duty on oranges and lemons shall be fixed every week.
Article 2
This Regulation shall enter into force on the day of its publication.
Done at Brussels, 5 January 2001.
ANNEX
Table of duties
"""
"""Written for this campaign."""

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"


def _zip(parts: dict[str, str], *, first: str | None = None) -> bytes:
    """The same bytes each time: a part that is named alone is dated 1980."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        if first is not None:
            archive.writestr(zipfile.ZipInfo("mimetype"), first, zipfile.ZIP_STORED)
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _docx() -> bytes:
    lines = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in ACT.splitlines())
    return _zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{_TYPES}"/>',
            "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r" '
            f'Type="{_DOCUMENT}" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f"<w:document {_W}><w:body>{lines}</w:body></w:document>",
        }
    )


def _odt() -> bytes:
    lines = "".join(f"<text:p>{line}</text:p>" for line in ACT.splitlines())
    content = (
        f'<office:document-content xmlns:office="{_OFFICE}:office:1.0" '
        f'xmlns:text="{_OFFICE}:text:1.0"><office:body><office:text>{lines}'
        "</office:text></office:body></office:document-content>"
    )
    return _zip({"content.xml": content}, first="application/vnd.oasis.opendocument.text")


def _epub() -> bytes:
    lines = "".join(f"<p>{line}</p>" for line in ACT.splitlines())
    return _zip(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:'
            'container"><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>',
            "a.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="i" '
            'href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref '
            'idref="i"/></spine></package>',
            "a.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{lines}</body></html>',
        },
        first="application/epub+zip",
    )


def _pdf() -> bytes:
    """One page, with the table of places that the format asks for."""
    shown = " ".join(f"({line.replace('(', '').replace(')', '')}) '" for line in ACT.splitlines())
    stream = f"BT /F 9 Tf 13 TL 60 800 Td {shown} ET".encode()
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    listed = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    trailer = b"trailer<</Size %d/Root 1 0 R>>startxref\n%d\n%%%%EOF" % (size, len(out))
    return out + listed + trailer


def _record() -> dict[str, object]:
    return {
        "celex_id": "32001R9112",
        "uri": "http://publications.europa.eu/resource/cellar/1",
        "type": "Regulation",
        "concepts": ["693", "1309"],
        "title": "Commission Regulation (EC) No 9112/2001",
        "header": "COMMISSION REGULATION",
        "recitals": ",\nWhereas the market is in need of support,",
        "main_body": ["The duty shall be fixed every week.", "It enters into force."],
        "attachments": "ANNEX",
    }


def files(folder: Path | None) -> dict[str, bytes]:
    """By name: those written here, and those of a folder."""
    record = _record()
    uri = "<http://eurovoc.europa.eu/693>"
    found = {
        "act.txt": ACT.encode(),
        "act.txt.gz": gzip.compress(ACT.encode(), mtime=0),
        "act.txt.xz": lzma.compress(ACT.encode()),
        "act.docx": _docx(),
        "act.odt": _odt(),
        "act.epub": _epub(),
        "act.pdf": _pdf(),
        "act.json": json.dumps(record).encode(),
        "acts.jsonl": "\n".join(
            json.dumps({**record, "celex_id": f"3200{n}R0001"}) for n in range(4)
        ).encode(),
        "titles.tsv": f"Imports of oranges\t{uri}\nA text\t\n".encode(),
        "texts.csv": f"text,subject_uris\nImports of oranges,{uri}\n".encode(),
        "annif.jsonl": json.dumps(
            {"text": "Imports", "subjects": [{"uri": uri[1:-1], "label": "citrus fruit"}]}
        ).encode(),
        "act.html": ("<html><body>" + "".join(f"<p>{x}</p>" for x in ACT.splitlines())).encode(),
    }
    if folder is not None:
        found |= {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return found


def thesauri() -> dict[str, bytes]:
    concepts = {
        "693": {"label": "citrus fruit", "broader": ["1115"]},
        "1115": {"label": "fruit", "alternatives": ["fresh fruit"]},
    }
    turtle = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://eurovoc.europa.eu/693> a skos:Concept ; skos:prefLabel "citrus fruit"@en ;
  skos:broader <http://eurovoc.europa.eu/1115> .
<http://eurovoc.europa.eu/1115> a skos:Concept ; skos:prefLabel "fruit"@en .
"""
    return {
        "thesaurus.json": json.dumps(concepts).encode(),
        "thesaurus.csv": b"id,label\n693,citrus fruit\n1115,fruit\n",
        "thesaurus.ttl": turtle.encode(),
    }


def requests() -> dict[str, bytes]:
    """Whole requests by the names of their routes."""
    section = {"kind": "article", "text": "The import of oranges."}
    bodies = {
        "/v1/tag": {"text": ACT, "top": 3, "threshold": 0.1, "exclude": ["693"]},
        "/v1/tag/batch": {"documents": [{"text": "oranges"}, {"sections": [section]}], "top": 2},
        "/v1/tag/stream": {"sections": [section, section], "section_top": 2},
        "/v1/evidence": {"sections": [section], "top": 2, "by_section": True},
        "/v1/evidence/stream": {"text": ACT, "top": 2},
        "/v1/compare": {"text": "oranges", "models": ["svm", "svm"]},
        "/v1/score": {"text": "oranges", "concepts": [{"id": "7", "descriptor": "fig"}]},
        "/v1/projects/svm/suggest-batch": {"documents": [{"text": "oranges"}]},
    }
    found = {
        path: _request("POST", path, json.dumps(body).encode(), "application/json")
        for path, body in bodies.items()
    }
    form = "application/x-www-form-urlencoded"
    suggest = "/v1/projects/svm/suggest"
    found[suggest] = _request("POST", suggest, b"text=oranges+and+lemons&limit=3", form)
    upload = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="act.txt"\r\n\r\n'
        + ACT.encode()
        + b"\r\n--b--\r\n"
    )
    found["/v1/parse"] = _request("POST", "/v1/parse", upload, "multipart/form-data; boundary=b")
    found["/v1/labels"] = _request("GET", "/v1/labels?q=fru&limit=3", b"", "")
    return found


def _request(method: str, path: str, body: bytes, kind: str) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if body:
        head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body
