/** The legend above the text: which concept has which colour, and what a colour means. */

import { desk } from "./desk.js";
import { $, count, h, number, smallButton } from "./dom.js";
import { KIND_SENTENCES } from "./heat.js";
import { swatch } from "./lines.js";

function draw() {
  const lit = desk.lights.all;
  const two = lit.some((one) => one.model !== desk.work.model);
  $("lit").replaceChildren(...lit.map((one) => item(one, two)));
  $("key-hint").hidden = lit.length > 0;
  $("key-tools").hidden = $("meaning").hidden = !lit.length;
  $("whole").setAttribute("aria-pressed", String(!desk.lights.apart));
  $("apart").setAttribute("aria-pressed", String(desk.lights.apart));
  $("strong").setAttribute("aria-pressed", String(!desk.settings.allWords));
  $("every").setAttribute("aria-pressed", String(desk.settings.allWords));
  $("apart").parentElement.hidden = (desk.work?.sections.length ?? 0) < 2;
  const kinds = new Set(lit.map((one) => desk.lights.of(one)?.kind).filter(Boolean));
  $("kinds").replaceChildren(...[...kinds].map((kind) => h("li", {}, KIND_SENTENCES[kind])));
}

function item(one, withModel) {
  return h(
    "li",
    { "data-colour": one.colour, class: desk.lights.awaits(one) ? "waiting" : "" },
    swatch(one),
    h("b", {}, one.descriptor),
    withModel ? h("span", { class: "hint" }, one.model) : null,
    h("span", { class: "hint", title: "Places in the text" }, places(one)),
    smallButton("cross", `Put out ${one.descriptor}`, () => putOut(one)),
  );
}

function putOut(one) {
  desk.lights.toggle({ id: one.label, descriptor: one.descriptor }, one.model);
  $("text").focus();
}

function places(one) {
  const evidence = desk.lights.of(one);
  if (!evidence) return desk.lights.awaits(one) ? "looking" : "not known";
  const sum = (sizes) => sizes.reduce((a, b) => a + b, 0);
  const all = sum(evidence.sections.map((one) => one.spans.length)) + evidence.left_out;
  const shown = sum(evidence.sections.map((one) => desk.lights.shown(evidence, one).length));
  if (!all) return "no words";
  return shown === all ? count(all, "place") : `${number(shown)} of ${number(all)}`;
}

export function startLegend() {
  desk.on("lit evidence document", draw);
  $("whole").addEventListener("click", () => desk.lights.readApart(false));
  $("apart").addEventListener("click", () => desk.lights.readApart(true));
  $("strong").addEventListener("click", () => desk.lights.useAllWords(false));
  $("every").addEventListener("click", () => desk.lights.useAllWords(true));
  $("unlight").addEventListener("click", () => desk.lights.putOut());
}
