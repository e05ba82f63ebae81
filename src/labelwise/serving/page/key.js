/** The key above the text: which concept has which colour, and what a colour means. */

import { desk } from "./desk.js";
import { $, count, h, icon, number } from "./dom.js";
import { KIND_SENTENCES } from "./heat.js";

function draw() {
  const lit = desk.work?.lit ?? [];
  const two = new Set(lit.map((one) => one.model)).size > 1 || lit.some((one) => one.model !== desk.work.model);
  $("lit").replaceChildren(...lit.map((one) => item(one, two)));
  $("key-hint").hidden = lit.length > 0;
  $("key-tools").hidden = $("meaning").hidden = !lit.length;
  $("whole").setAttribute("aria-pressed", String(!desk.apart));
  $("apart").setAttribute("aria-pressed", String(desk.apart));
  $("strong").setAttribute("aria-pressed", String(!desk.settings.allWords));
  $("every").setAttribute("aria-pressed", String(desk.settings.allWords));
  $("apart").parentElement.hidden = (desk.work?.sections.length ?? 0) < 2;
  const kinds = new Set(lit.map((one) => desk.evidenceOf(one)?.kind).filter(Boolean));
  $("kinds").replaceChildren(...[...kinds].map((kind) => h("li", {}, KIND_SENTENCES[kind])));
}

function item(one, withModel) {
  const evidence = desk.evidenceOf(one);
  return h(
    "li",
    { "data-colour": one.colour, class: desk.awaits(one) ? "waiting" : "" },
    h("span", { class: "swatch", "data-colour": one.colour }, String(one.colour)),
    h("b", {}, one.descriptor),
    withModel ? h("span", { class: "hint" }, one.model) : null,
    h("span", { class: "hint", title: "Places in the text" }, evidence ? found(evidence) : desk.awaits(one) ? "looking" : "not known"),
    h(
      "button",
      { type: "button", class: "small", "aria-label": `Put out ${one.descriptor}`, onclick: () => putOut(one) },
      icon("cross"),
    ),
  );
}

function putOut(one) {
  desk.light({ id: one.label, descriptor: one.descriptor }, one.model);
  $("text").focus();
}

function found(evidence) {
  const sum = (sizes) => sizes.reduce((a, b) => a + b, 0);
  const all = sum(evidence.sections.map((one) => one.spans.length)) + evidence.left_out;
  const shown = sum(evidence.sections.map((one) => desk.shownSpans(evidence, one).length));
  if (!all) return "no words";
  return shown === all ? count(all, "place") : `${number(shown)} of ${number(all)}`;
}

export function startKey() {
  desk.on("lit evidence document", draw);
  $("whole").addEventListener("click", () => desk.readApart(false));
  $("apart").addEventListener("click", () => desk.readApart(true));
  $("strong").addEventListener("click", () => desk.lightAllWords(false));
  $("every").addEventListener("click", () => desk.lightAllWords(true));
  $("unlight").addEventListener("click", () => desk.unlight());
}
