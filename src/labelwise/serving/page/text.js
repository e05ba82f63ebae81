/** The text of the document: drawn in pieces, marked where it is seen.
 *
 * An act of 50,000 words stays light: its lines are put together a frame at a time, the browser
 * lays out those near the window (content-visibility), and only they carry marks.
 */

import { desk } from "./desk.js";
import { $, count, h, number, pause, setStyle } from "./dom.js";
import { background, firstAfter, segments, weightSentence } from "./heat.js";

const PIECE = 2_000; // characters laid out and marked together
const LONG_LINE = 4_000; // a longer line is cut after a sentence
const FRAME = 8; // milliseconds of work before the browser may paint

let pieces = []; // { section, node, lines: [{ start, end, node }], marked }
let sectionNodes = [];
let layers = [];
let version = 0;
let found = []; // by section: its marked stretches, made when they are needed
let building = 0;

const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const piece = pieces[entry.target.dataset.piece];
      if (!piece || piece.node !== entry.target) continue;
      piece.near = entry.isIntersecting;
      if (piece.near) mark(piece);
    }
  },
  { root: $("text"), rootMargin: "600px 0px" },
);

// --- names ------------------------------------------------------------------------------------

const ZONES = { header: "Header", recitals: "Recitals", attachments: "Attachments" };

/** What sections are called: articles are counted, a text without zones is one. */
export function sectionNames(sections) {
  if (sections.length === 1) return [sections[0].kind === "article" ? "Text" : ZONES[sections[0].kind]];
  let article = 0;
  return sections.map((one) => ZONES[one.kind] ?? `Article ${number((article += 1))}`);
}

// --- drawing ----------------------------------------------------------------------------------

/** Lines of a text as [start, end), long ones cut after a sentence or a word. */
export function* linesOf(text) {
  let at = 0;
  while (at < text.length) {
    let end = text.indexOf("\n", at);
    if (end < 0) end = text.length;
    while (end - at > LONG_LINE) {
      const window = text.slice(at, at + LONG_LINE);
      let cut = Math.max(window.lastIndexOf(". "), window.lastIndexOf("; ")) + 2;
      if (cut < LONG_LINE / 4) cut = window.lastIndexOf(" ") + 1;
      if (cut < LONG_LINE / 4) cut = LONG_LINE;
      const half = text.charCodeAt(at + cut - 1);
      if (half >= 0xd800 && half < 0xdc00) cut -= 1; // never between the halves of a character
      yield [at, at + cut];
      at += cut;
    }
    if (text.slice(at, end).trim()) yield [at, end];
    at = end + 1;
  }
}

async function show() {
  const run = (building += 1);
  watcher.disconnect();
  pieces = [];
  sectionNodes = [];
  found = [];
  const { work } = desk;
  $("text").replaceChildren();
  if (!work) return;
  $("text").scrollTop = 0;
  const names = sectionNames(work.sections);
  let began = performance.now();
  for (const [section, { text, kind }] of work.sections.entries()) {
    const node = h(
      "section",
      { class: "part", "data-kind": kind, "aria-label": names[section] },
      h("h3", {}, names[section], h("span", { class: "best" })),
    );
    sectionNodes.push(node);
    $("text").append(node);
    let lines = [];
    let size = 0;
    let height = 52; // of the heading
    for (const [start, end] of linesOf(text)) {
      lines.push({ start, end, node: h("p", {}, text.slice(start, end)) });
      size += end - start;
      if (size >= PIECE) {
        height += addPiece(section, node, lines);
        lines = [];
        size = 0;
        if (performance.now() - began > FRAME) {
          await pause();
          if (run !== building) return;
          began = performance.now();
        }
      }
    }
    if (lines.length) height += addPiece(section, node, lines);
    setStyle(node, { "contain-intrinsic-height": `auto ${height}px` });
    if (performance.now() - began > FRAME) {
      await pause();
      if (run !== building) return;
      began = performance.now();
    }
  }
  drawParts(Object.keys(work.parts));
}

/** Lines that are laid out and marked together; gives the height that they will have, about. */
function addPiece(section, parent, lines) {
  const node = h("div", { class: "piece", "data-piece": pieces.length }, ...lines.map((one) => one.node));
  const height = lines.reduce((sum, one) => sum + 12 + 26 * Math.ceil((one.end - one.start) / 80), 0);
  setStyle(node, { "contain-intrinsic-height": `auto ${height}px` });
  pieces.push({ section, node, lines, marked: 0, near: false });
  parent.append(node);
  watcher.observe(node);
  return height;
}

/** What each section would be called on its own. */
function drawParts(which) {
  const { parts, sections } = desk.work;
  if (sections.length < 2) return;
  for (const section of which) {
    const node = sectionNodes[section];
    if (!node || !parts[section]) continue; // drawn with the whole text, when that is built
    const names = parts[section].best.join(", ");
    node.firstElementChild.lastElementChild.textContent = names ? `on its own: ${names}` : "";
  }
}

// --- marks ------------------------------------------------------------------------------------

function relight() {
  const held = focusedPlace();
  version += 1;
  found = [];
  layers = (desk.lights.all).flatMap((one) => {
    const evidence = desk.lights.of(one);
    if (!evidence) return [];
    const bySection = new Map(
      evidence.sections.map((part) => [
        part.section,
        { spans: desk.lights.shown(evidence, part), strongest: desk.lights.strongest(evidence, part) },
      ]),
    );
    return [{ ...one, kind: evidence.kind, bySection }];
  });
  steps = null;
  for (const piece of pieces) if (piece.near) mark(piece);
  if (held) focusAgain(held);
  drawWhere();
}

/** The marked stretch that has the focus: other evidence draws it anew, and must not lose it. */
function focusedPlace() {
  const node = document.activeElement;
  if (node?.localName !== "mark" || !$("text").contains(node)) return null;
  const { section } = pieces[node.closest(".piece").dataset.piece];
  return { section, start: segmentOf(node)?.start ?? 0 };
}

function focusAgain({ section, start }) {
  const all = allSteps();
  step = all.findLastIndex((one) => one.section === section && one.start <= start);
  const node = step < 0 ? null : markAt(section, all[step].start)?.node;
  (node ?? $("text")).focus({ preventScroll: true });
}

function marksOf(section) {
  found[section] ??= segments(
    layers.flatMap((layer) => {
      const part = layer.bySection.get(section);
      return part ? [{ ...layer, ...part }] : [];
    }),
  );
  return found[section];
}

function mark(piece) {
  if (piece.marked === version) return;
  piece.marked = version;
  const text = desk.work.sections[piece.section].text;
  const marks = marksOf(piece.section);
  for (const line of piece.lines) {
    const first = firstAfter(marks, line.start);
    const bare = first >= marks.length || marks[first].start >= line.end;
    if (bare && !line.lit) continue;
    line.lit = !bare;
    const children = [];
    let at = line.start;
    for (let n = first; n < marks.length && marks[n].start < line.end; n += 1) {
      const start = Math.max(at, marks[n].start);
      const end = Math.min(line.end, marks[n].end);
      if (start > at) children.push(text.slice(at, start));
      children.push(markNode(marks[n], text.slice(start, end), n));
      at = end;
    }
    if (at < line.end) children.push(text.slice(at, line.end));
    line.node.replaceChildren(...children);
  }
}

function markNode(segment, words, place) {
  const node = h("mark", { tabindex: "-1", "data-n": place }, words);
  setStyle(node, { background: background(segment.parts) });
  const against = segment.parts.filter((one) => one.strength < 0);
  if (against.length) {
    node.classList.add("against");
    const depth = Math.round(35 + 65 * Math.min(1, -against[0].strength));
    const line = `color-mix(in srgb, var(--line-${against[0].layer.colour}) ${depth}%, transparent)`;
    setStyle(node, { "text-decoration-color": line });
  }
  return node;
}

// --- the weight of a word ---------------------------------------------------------------------

function segmentOf(node) {
  const piece = pieces[node.closest(".piece").dataset.piece];
  return marksOf(piece.section)[node.dataset.n];
}

function showTip(node) {
  const segment = segmentOf(node);
  if (!segment) return;
  const two = new Set(layers.map((one) => one.model)).size > 1;
  $("tip").replaceChildren(
    ...segment.parts.map((part) =>
      h(
        "p",
        {},
        h("span", { class: "swatch", "data-colour": part.layer.colour, "aria-hidden": "true" }),
        h("b", {}, part.layer.descriptor),
        ` ${weightSentence(part)}${two ? ` (${part.layer.model})` : ""}`,
      ),
    ),
  );
  $("tip").hidden = false;
  const box = node.getClientRects()[0] ?? node.getBoundingClientRect();
  const tip = $("tip").getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left, innerWidth - tip.width - 8));
  const above = box.top - tip.height - 6;
  setStyle($("tip"), { left: `${left}px`, top: `${above > 4 ? above : box.bottom + 6}px` });
  node.setAttribute("aria-describedby", "tip");
}

function hideTip(node) {
  $("tip").hidden = true;
  node?.removeAttribute("aria-describedby");
}

// --- going about ------------------------------------------------------------------------------

let steps = null; // all marked stretches: { section, start }
let step = -1;

function allSteps() {
  if (!steps) {
    steps = desk.work.sections.flatMap((_, section) =>
      marksOf(section).map(({ start }) => ({ section, start })),
    );
    step = -1;
  }
  return steps;
}

/** Go to the next stretch of evidence, or the one before. */
export function nextEvidence(by) {
  const all = allSteps();
  if (!all.length) return;
  step = step < 0 ? (by > 0 ? 0 : all.length - 1) : (step + by + all.length) % all.length;
  showTab("reading");
  goTo(all[step].section, all[step].start, true);
  drawWhere();
}

/** Bring a place of a section to the eye, and to the focus where it is marked. */
export function goTo(section, offset = 0, focus = false) {
  if (!offset && !focus) {
    sectionNodes[section]?.scrollIntoView({ block: "start" });
    return;
  }
  const { line, node } = markAt(section, offset) ?? {};
  if (!line) return;
  ((focus && node) || line.node).scrollIntoView({ block: "center" });
  if (focus) node?.focus({ preventScroll: true });
}

/** The line at a place of a section, and the mark there, if there is one. */
function markAt(section, offset) {
  const piece = pieces.findLast((one) => one.section === section && one.lines[0].start <= offset)
    ?? pieces.find((one) => one.section === section);
  if (!piece) return null;
  mark(piece);
  const line = piece.lines.findLast((one) => one.start <= offset) ?? piece.lines[0];
  const place = marksOf(section).findIndex((one) => one.end > offset);
  return { line, node: line.node.querySelector(`mark[data-n="${place}"]`) };
}

function drawWhere() {
  const all = layers.length ? allSteps().length : 0;
  $("where").textContent = all ? (step < 0 ? number(all) : `${number(step + 1)} of ${number(all)}`) : "none";
  $("where").title = count(all, "stretch of evidence", "stretches of evidence");
  $("before").disabled = $("next").disabled = !all;
}

/** On a narrow screen one part of the desk is shown at a time. */
export function showTab(name) {
  $("desk").dataset.tab = name;
  for (const tab of $("tabs").children) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
}

export function startText() {
  desk.on("document", show);
  desk.on("parts", () => drawParts(desk.fresh));
  desk.on("progress", () => {
    if (desk.tagging) for (const one of $("text").querySelectorAll(".best")) one.textContent = "";
  });
  desk.on("lit evidence document", relight);
  const text = $("text");
  const over = (event) => event.target.closest?.("mark");
  text.addEventListener("mouseover", (event) => over(event) && showTip(over(event)));
  text.addEventListener("mouseout", (event) => over(event) && hideTip(over(event)));
  text.addEventListener("focusin", (event) => over(event) && showTip(over(event)));
  text.addEventListener("focusout", (event) => over(event) && hideTip(over(event)));
  text.addEventListener("scroll", () => {
    if (document.activeElement?.localName !== "mark") hideTip();
  }, { passive: true });
  $("before").addEventListener("click", () => nextEvidence(-1));
  $("next").addEventListener("click", () => nextEvidence(1));
}
