/** What was chosen, as JSON, CSV or Turtle. Nothing here knows the page. */

/** {document, concepts, rejected}, for programs. */
export function asJson(exported) {
  return `${JSON.stringify(exported, null, 2)}\n`;
}

const COLUMNS = ["id", "uri", "descriptor", "decision", "score", "rank", "model", "decided", "group", "place"];

/** One line a concept, as RFC 4180 has it. */
export function asCsv({ concepts, rejected }) {
  const rows = [...concepts, ...rejected].map((one) => COLUMNS.map((column) => csvCell(one[column])));
  return [COLUMNS, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** A text that a spreadsheet would take for a formula gets an apostrophe, which it does not show. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The document with its subjects, and the names of the concepts. */
export function asTurtle({ document, concepts }, language = "en") {
  const lines = [
    "@prefix dcterms: <http://purl.org/dc/terms/> .",
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .",
    "",
    `${iri(document.uri)}`,
    `    dcterms:title ${literal(document.title)}${concepts.length ? " ;" : " ."}`,
  ];
  if (concepts.length) {
    lines.push(`    dcterms:subject ${concepts.map((one) => iri(one.uri)).join(" ,\n        ")} .`);
  }
  for (const one of concepts) {
    const name = `${literal(one.descriptor)}@${language}`;
    lines.push("", `${iri(one.uri)} a skos:Concept ;`, `    skos:prefLabel ${name} .`);
  }
  return `${lines.join("\n")}\n`;
}

/** What must not stand in an IRI is written in percent. */
function iri(address) {
  const safe = address.replace(/[\u0000-\u0020<>"{}|^`\\\u007f]/g, (one) => encodeURIComponent(one));
  return `<${safe}>`;
}

const ESCAPES = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function literal(text) {
  const safe = text
    .replace(/[\\"\n\r\t]/g, (one) => ESCAPES[one])
    .replace(/[\u0000-\u001f\u007f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${safe}"`;
}

// 3 for legislation, a year, letters for the kind, a number: 32001R0012; then what a corrigendum or a
// consolidated version adds.
const CELEX = /^[0-9CE](19|20)\d\d[A-Z]{1,2}\d{4}(R?\(\d\d\))?(-\d{8})?$/;

/** The address that the Publications Office gives an act; for anything else the UUID of its text,
 * which is a name and leads nowhere. */
export function addressOf(name, uuid) {
  return CELEX.test(name) ? `http://publications.europa.eu/resource/celex/${name}` : `urn:uuid:${uuid}`;
}
