/** The parts of a line about a concept: its names and marks, its score, what can be decided. */

import { desk } from "./desk.js";
import { count, h, icon, setStyle } from "./dom.js";

/** How well the model knows a label. */
export function marks(info) {
  const found = [];
  if (info.in_model === false) found.push(["out", "not in model", "The thesaurus has this concept, the model does not"]);
  else if (info.group === "zero") found.push(["zero", "unseen", "Zero-shot: no training document carries this label"]);
  else if (info.group === "few") {
    found.push(["few", `rare ${info.count}`, `Few-shot: ${count(info.count, "training document carries", "training documents carry")} this label`]);
  }
  if (desk.work?.gold.includes(info.id)) found.push(["gold", "in file", "The file that was opened names this label"]);
  return found.map(([kind, text, title]) => h("span", { class: `mark ${kind}`, title }, text));
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
  return h("span", { class: "score", "data-colour": colour, "aria-hidden": "true" }, h("span", { class: "meter" }, fill));
}

export function swatch(lit, rank) {
  return h("span", { class: "swatch", "data-colour": lit?.colour, "aria-hidden": "true" }, lit ? String(lit.colour) : String(rank));
}

export function choices(info) {
  const state = desk.decision(info.id);
  const choice = (name, label, act, pressed) =>
    h(
      "button",
      { type: "button", class: `choice ${name}`, tabindex: "-1", "aria-label": `${label} ${info.descriptor}`, title: label, "aria-pressed": pressed, onclick: act },
      icon({ accept: "check", reject: "cross", never: "never" }[name]),
    );
  return h(
    "span",
    { class: "choices" },
    choice("accept", "Accept", () => desk.decide(info, "accepted"), String(state === "accepted")),
    choice("reject", "Reject", () => desk.decide(info, "rejected"), String(state === "rejected")),
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
