/** The parts of a line about a concept: its names and marks, its score, what can be decided. */

import { desk } from "./desk.js";
import { count, h, icon, setStyle } from "./dom.js";

/** How well the model knows a label. */
export function marks(info) {
  const found = [];
  const mark = (kind, text, title) => found.push(h("span", { class: `mark ${kind}`, title }, text));
  if (info.in_model === false) {
    mark("out", "not in model", "The thesaurus has this concept, the model does not");
  } else if (info.group === "zero") {
    mark("zero", "unseen", "Zero-shot: no training document carries this label");
  } else if (info.group === "few") {
    const documents = count(info.count, "training document");
    mark("few", `rare ${info.count}`, `Few-shot: ${documents} with this label`);
  }
  if (desk.work?.gold.includes(info.id)) {
    mark("gold", "in file", "The file that was opened names this label");
  }
  return found;
}

/** The place above a concept: domain › microthesaurus › broader. */
export function above(info) {
  const { domains, microthesauri, broader } = info.place;
  const names = [domains[0], microthesauri[0], ...broader].filter(Boolean).map((one) => one.name);
  return names.join(" › ");
}

export function bar(score, colour) {
  const fill = h("span", { class: "fill" });
  setStyle(fill, { width: `${Math.round(100 * Math.min(1, Math.max(0, score ?? 0)))}%` });
  const meter = h("span", { class: "meter" }, fill);
  return h("span", { class: "score", "data-colour": colour, "aria-hidden": "true" }, meter);
}

/** The colour of a concept that is lit: a letter, since numbers are ranks. */
export function swatch(lit) {
  const letter = "ABCDEFGH"[lit.colour - 1];
  return h("span", { class: "swatch", "data-colour": lit.colour, "aria-hidden": "true" }, letter);
}

/** The rank, and the colour beside it where the concept is lit. */
export function ranked(rank, lit) {
  const number = h("span", { class: "rank" }, String(rank));
  return h("span", { class: "ranked" }, number, lit ? swatch(lit) : null);
}

const ICONS = { accept: "check", reject: "cross", never: "never" };

/** Accept, reject, never suggest: out of the order of Tab, since arrows come to them. */
export function choices(info) {
  const state = desk.decisions.of(info.id);
  const choice = (name, label, onclick, pressed) =>
    h(
      "button",
      {
        type: "button",
        class: `choice ${name}`,
        tabindex: "-1",
        "aria-label": `${label} ${info.descriptor}`,
        "aria-pressed": pressed,
        title: label,
        onclick,
      },
      icon(ICONS[name]),
    );
  const decide = (wanted) => () => desk.decisions.decide(info, wanted);
  return h(
    "span",
    { class: "choices" },
    choice("accept", "Accept", decide("accepted"), String(state === "accepted")),
    choice("reject", "Reject", decide("rejected"), String(state === "rejected")),
    choice("never", "Never suggest", () => desk.neverSuggest(info)),
  );
}

export function named(info) {
  return h(
    "span",
    { class: "what" },
    h("span", { class: "descriptor" }, info.descriptor, ...marks(info)),
    h("span", { class: "place" }, above(info)),
  );
}
