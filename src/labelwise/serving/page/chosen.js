/** What was chosen, and what the asker should know. */

import { desk } from "./desk.js";
import { $, count, h, icon, shownScore } from "./dom.js";
import { marks, swatch } from "./lines.js";

function drawChosen() {
  const all = desk.decided("accepted");
  $("chosen-count").textContent = all.length ? count(all.length, "concept") : "";
  $("copy").disabled = !all.length;
  if (!all.length) {
    $("chosen").replaceChildren(h("li", { class: "empty" }, "Accept suggestions, or add concepts from the thesaurus."));
    return;
  }
  $("chosen").replaceChildren(...all.map((one) => {
    const lit = desk.lit(one.id, one.model);
    return h(
      "li",
      { "data-id": one.id, title: one.place.path },
      h(
        "button",
        { type: "button", class: "light", "aria-pressed": String(Boolean(lit)), onclick: () => desk.light(one, one.model) },
        lit ? swatch(lit) : null,
        h("span", { class: "descriptor" }, one.descriptor, ...marks(one)),
        h("span", { class: "hint" }, one.score === null ? "no score" : `${shownScore(one.score)}${one.model === desk.work.model ? "" : ` by ${one.model}`}`),
      ),
      h("button", { type: "button", class: "small", "aria-label": `Remove ${one.descriptor}`, onclick: () => remove(one) }, icon("cross")),
    );
  }));
}

function remove(one) {
  desk.decide(one, "accepted");
  $("chosen").querySelector("button")?.focus();
}

function drawNotes() {
  const { work } = desk;
  const notes = [...(work?.notes ?? []), ...(work?.other ? desk.compared?.notes ?? [] : [])];
  if (work?.gold.length && work.predictions) {
    const found = work.predictions.filter((one) => work.gold.includes(one.id)).length;
    notes.push(`the file names ${count(work.gold.length, "label")}; ${found} of them are suggested`);
  }
  $("notes").replaceChildren(...notes.map((one) => h("li", {}, one.charAt(0).toUpperCase() + one.slice(1))));
}

export function startChosen() {
  desk.on("document decisions lit", drawChosen);
  desk.on("document predictions compare", drawNotes);
}
