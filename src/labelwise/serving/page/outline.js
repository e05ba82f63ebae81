/** The map: every section, how much of each lit concept's evidence lies there, and what the section
 * would be called on its own. Beside the text, a strip with a tick for each marked word. */

import { desk } from "./desk.js";
import { $, h, number, setStyle, shownScore } from "./dom.js";
import { goTo, sectionNames, showTab } from "./text.js";

let names = [];
let items = [];

function build() {
  const { work } = desk;
  names = work ? sectionNames(work.sections) : [];
  items = names.map((name, section) => {
    const best = h("span", { class: "best" });
    const bars = h("span", { class: "bars" });
    const button = h(
      "button",
      { type: "button", onclick: () => visit(section) },
      h("span", { class: "section-name" }, name),
      best,
      bars,
    );
    return { best, bars, button };
  });
  $("sections").replaceChildren(...items.map((one) => h("li", {}, one.button)));
  draw();
}

function visit(section) {
  showTab("reading");
  goTo(section);
}

/** (section → share of the evidence, own score) for each lit concept. */
function shares() {
  return (desk.lights.all).map((one) => {
    const evidence = desk.lights.of(one);
    const weights = new Map((evidence?.sections ?? []).map((part) => [part.section, part]));
    // Read apart, each section's weights are shares of its own: its score tells how it weighs.
    const weigh = (part) => (desk.lights.apart ? part.score ?? 0 : part.weight);
    const most = Math.max(0, ...[...weights.values()].map(weigh));
    const total = [...weights.values()].reduce((sum, part) => sum + part.weight, 0);
    return { one, weights, weigh, most, total };
  });
}

function draw() {
  drawSections(items.keys());
  const { work } = desk;
  $("outline-hint").textContent = work?.lit.length
    ? desk.lights.apart ? "What each section scores on its own" : "Where the evidence lies"
    : work?.sections.length > 1 ? "Each with its own best concept" : "";
  drawStrip();
}

function drawSections(which) {
  const { work } = desk;
  const lit = shares();
  for (const section of which) {
    const { best, bars, button } = items[section];
    const part = work.parts[section];
    const own = lit.length ? "" : part?.best[0] ?? "";
    best.textContent = own;
    const sentences = own ? [`on its own: ${own}`] : [];
    bars.replaceChildren(
      ...lit.map(({ one, weights, weigh, most, total }) => {
        const here = weights.get(section);
        const share = here && most ? weigh(here) / most : 0;
        if (here && total) sentences.push(sentence(one, here, total, part));
        const bar = h("span", { class: "share", "data-colour": one.colour });
        setStyle(bar, { width: `${Math.max(share ? 4 : 0, 100 * share)}%` });
        return h("span", { class: "track" }, bar);
      }),
    );
    button.title = sentences.join("\n");
    button.setAttribute("aria-label", [names[section], ...sentences].join(", "));
  }
}

/** What a section has to do with a concept. */
function sentence(one, here, total, part) {
  if (desk.lights.apart) return `${one.descriptor}: this section alone scores ${shownScore(here.score)}`;
  const share = `${one.descriptor}: ${Math.round((100 * here.weight) / total)} % of its evidence`;
  const score = one.model === desk.work.model ? part?.scores[one.label] : undefined;
  return score === undefined ? share : `${share}, alone it scores ${shownScore(score)}`;
}

// --- the strip --------------------------------------------------------------------------------

function drawStrip() {
  const canvas = $("strip");
  const { width, height } = canvas.getBoundingClientRect();
  const { work } = desk;
  if (!width || !work) return;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const { starts, total } = extent(work);
  const lit = work.lit.filter((one) => desk.lights.of(one));
  for (const [lane, one] of lit.entries()) {
    const evidence = desk.lights.of(one);
    const wide = canvas.width / lit.length;
    pen.fillStyle = colourOf(canvas, style, one.colour);
    for (const part of evidence.sections) {
      const strongest = desk.lights.strongest(evidence, part);
      for (const span of desk.lights.shown(evidence, part)) {
        if (span.weight <= 0) continue;
        pen.globalAlpha = 0.35 + 0.65 * Math.min(1, span.weight / strongest);
        const y = ((starts[part.section] + span.start) / total) * canvas.height;
        pen.fillRect(lane * wide, y, Math.max(2, wide - scale), 2 * scale);
      }
    }
  }
}

/** A canvas knows no variables: the colour is read off an element that has it. */
function colourOf(canvas, style, colour) {
  canvas.style.color = `var(--line-${colour})`;
  const found = style.color;
  canvas.style.removeProperty("color");
  return found;
}

function extent(work) {
  let total = 0;
  const starts = work.sections.map((one) => {
    const at = total;
    total += one.text.length + 1;
    return at;
  });
  return { starts, total: Math.max(1, total) };
}

function jump(event) {
  const { work } = desk;
  const { starts, total } = extent(work);
  const at = (event.offsetY / $("strip").clientHeight) * total;
  const section = Math.max(0, starts.findLastIndex((start) => start <= at));
  goTo(section, Math.floor(at - starts[section]) || 1);
}

export function startOutline() {
  desk.on("document", build);
  let drawn = 0;
  desk.on("parts", () => drawSections(desk.fresh));
  desk.on("lit evidence progress settings", () => {
    cancelAnimationFrame(drawn);
    drawn = requestAnimationFrame(draw);
  });
  $("strip").addEventListener("click", jump);
  new ResizeObserver(drawStrip).observe($("strip"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawStrip);
}
