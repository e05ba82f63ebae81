"""PDF, DOCX, ODT and EPUB files written for the tests: by the libraries of the field or by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

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
Done at Brussels, 5 January 2001."""

ZONES = ["header", "recitals", "article", "article", "attachments"]


def pdf(pages: Sequence[Sequence[str]], **how: Any) -> bytes:
    """A page of lines each, from the top down."""
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True, **how)
    for lines in pages:
        canvas.setFont("Helvetica", 9)
        for number, line in enumerate(lines):
            canvas.drawString(60, 800 - 13 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def scanned(stamp: str = "") -> bytes:
    """A PDF of a picture, and perhaps of a stamp."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=True)
    canvas.drawImage(ImageReader(Image.new("L", (60, 80), 200)), 0, 0, 595, 842)
    canvas.drawString(60, 20, stamp)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def docx(lines: Sequence[str]) -> bytes:
    """As python-docx writes it, with a header and a footer."""
    import docx

    document = docx.Document()
    section = document.sections[0]
    section.header.paragraphs[0].text = "Running head"
    section.footer.paragraphs[0].text = "Page 1"
    for line in lines:
        document.add_paragraph(line)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def with_parts(file: bytes, **parts: bytes) -> bytes:
    """A copy of an archive with these parts in place of its own: ``word_document`` is
    ``word/document.xml``."""
    named = {f"{name.replace('_', '/')}.xml": data for name, data in parts.items()}
    with zipfile.ZipFile(io.BytesIO(file)) as old:
        kept = [(one, old.read(one)) for one in old.namelist() if one not in named]
    return zipped([*kept, *named.items()])


def odt(body: str) -> bytes:
    """An ODT with this XML as its text."""
    office = "urn:oasis:names:tc:opendocument:xmlns"
    content = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="{office}:office:1.0" xmlns:text="{office}:text:1.0"
  xmlns:table="{office}:table:1.0" office:version="1.2">
<office:body><office:text>{body}</office:text></office:body></office:document-content>"""
    mimetype = b"application/vnd.oasis.opendocument.text"
    return zipped([("mimetype", mimetype), ("content.xml", content.encode())])


def odt_paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<text:p>{escape(line)}</text:p>" for line in lines)


def epub(pages: dict[str, str], *, extra: Sequence[tuple[str, bytes]] = ()) -> bytes:
    """A book of pages by name, each the XHTML of its body."""
    items = "".join(
        f'<item id="p{at}" href="text/{name}.xhtml" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{at}"/>' for at in range(len(pages)))
    package = f"""<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<manifest><item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
<item id="css" href="style.css" media-type="text/css"/>{items}</manifest>
<spine><itemref idref="nav"/>{spine}</spine></package>"""
    container = """<?xml version="1.0"?><container version="1.0"
xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""
    xhtml = """<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml">
<head><title>x</title></head><body>{}</body></html>"""
    return zipped(
        [
            ("mimetype", b"application/epub+zip"),
            ("META-INF/container.xml", container.encode()),
            ("OEBPS/book.opf", package.encode()),
            ("OEBPS/nav.xhtml", xhtml.format("<p>Contents</p>").encode()),
            *(
                (f"OEBPS/text/{name}.xhtml", xhtml.format(body).encode())
                for name, body in pages.items()
            ),
            *extra,
        ]
    )


def html_paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def zipped(files: Sequence[tuple[str, bytes]]) -> bytes:
    """The first file stored, as ODT and EPUB want it, the others packed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, (name, data) in enumerate(files):
            archive.writestr(name, data, zipfile.ZIP_DEFLATED if at else zipfile.ZIP_STORED)
    return buffer.getvalue()


def every_kind(text: str = ACT) -> dict[str, bytes]:
    """The same act in each of the four formats, by file name."""
    lines = text.splitlines()
    return {
        "act.pdf": pdf([lines]),
        "act.docx": docx(lines),
        "act.odt": odt(odt_paragraphs(lines)),
        "act.epub": epub({"act": html_paragraphs(lines)}),
    }
