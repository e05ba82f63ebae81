/** What was chosen, and what the asker should know. */

import { desk } from "./desk.js";
import { $, count, h, shownScore, smallButton } from "./dom.js";
import { marks, swatch } from "./lines.js";

function drawChosen() {
  const all = desk.decisions.list("accepted");
  $("chosen-count").textContent = all.length ? count(all.length, "concept") : "";
  $("copy").disabled = !all.length;
  if (!all.length) {
    const hint = "Accept suggestions, or add concepts from the thesaurus.";
    $("chosen").replaceChildren(h("li", { class: "empty" }, hint));
    return;
  }
  $("chosen").replaceChildren(...all.map(item));
}

function item(one) {
  const lit = desk.lights.lit(one.id, one.model);
  const by = one.model === desk.work.model ? "" : ` by ${one.model}`;
  const light = () => desk.lights.toggle(one, one.model);
  return h(
    "li",
    { "data-id": one.id, title: one.place.path },
    h(
      "button",
      { type: "button", class: "light", "aria-pressed": String(Boolean(lit)), onclick: light },
      lit ? swatch(lit) : null,
      h("span", { class: "descriptor" }, one.descriptor, ...marks(one)),
      h("span", { class: "hint" }, one.score === null ? "no score" : shownScore(one.score) + by),
    ),
    smallButton("cross", `Remove ${one.descriptor}`, () => remove(one)),
  );
}

function remove(one) {
  desk.decisions.decide(one, "accepted");
  $("chosen").querySelector("button")?.focus();
}

/** What the model has learned from: nobody should expect it to know more. */
function drawKnows() {
  const { current, work } = desk;
  if (!current || !work) return;
  const language = new Intl.DisplayNames("en", { type: "language" }).of(current.language);
  const years = current.years && `acts of ${current.years[0]} to ${current.years[1]}`;
  const words = [`${current.id} reads ${language}`, years && `learned from ${years}`];
  if (!current.calibrated) words.push("its scores are no chances");
  const year = Number(/^[0-9CE]((?:19|20)\d\d)[A-Z]/.exec(work.name)?.[1]);
  if (years && year > current.years[1]) words.push(`this act is of ${year}, later than those`);
  $("knows").textContent = `${words.filter(Boolean).join("; ")}.`;
}

function drawNotes() {
  const { work } = desk;
  // What a comparison notes begins with the name of a model, and has what the model in use noted.
  const two = work?.other && desk.compared;
  const notes = two ? [...desk.compared.notes] : (work?.notes ?? []).map(begun);
  if (work?.gold.length && work.predictions) {
    const found = work.predictions.filter((one) => work.gold.includes(one.id)).length;
    notes.push(`The file names ${count(work.gold.length, "label")}; ${found} of them are suggested`);
  }
  $("notes").replaceChildren(...notes.map((one) => h("li", {}, one)));
}

/** As a sentence begins. */
const begun = (words) => words.charAt(0).toUpperCase() + words.slice(1);

export function startChosen() {
  desk.on("document decisions lit", drawChosen);
  desk.on("document predictions compare", drawNotes);
  desk.on("models model document title", drawKnows);
}
