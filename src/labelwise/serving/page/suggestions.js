/** The list of suggestions, and how the focus moves in it. */

import { pair, scored } from "./compare.js";
import { settingFor, steps } from "./cut.js";
import { desk } from "./desk.js";
import { $, h, shownScore } from "./dom.js";
import { bar, choices, named, ranked } from "./lines.js";
import { because } from "./reasons.js";

const BELOW = 8; // suggestions shown below the threshold before the user asks for more
let more = false;

function line(info) {
  const lit = desk.lights.lit(info.id);
  const light = () => desk.lights.toggle(info);
  const pressed = String(Boolean(lit));
  return h(
    "li",
    { class: "line", "data-id": info.id, "data-state": desk.decisions.of(info.id) },
    h(
      "button",
      { type: "button", class: "light", tabindex: "-1", "aria-pressed": pressed, onclick: light },
      ranked(info.rank, lit),
      named(info),
      bar(info.score, lit?.colour),
      h("span", { class: "value", title: `score ${info.score}` }, shownScore(info.score)),
      h("span", { class: "because" }, because(info)),
    ),
    choices(info),
  );
}

function single() {
  const { work } = desk;
  if (!work.predictions) return [empty(desk.tagging ? "Reading the document." : "No suggestions yet.")];
  const over = desk.above;
  const under = work.predictions.slice(over.length);
  const shown = more ? under : under.slice(0, BELOW);
  const found = [];
  const [above, below] = HEADINGS[desk.choice.by];
  if (over.length) found.push(lines("lines", above, over));
  else if (under.length) found.push(empty(noneAbove()));
  else found.push(empty("There is no word that the model could go by."));
  if (under.length) {
    if (over.length) found.push(h("p", { class: "divider" }, below));
    found.push(lines("lines under", below, shown));
  }
  if (shown.length < under.length) {
    const left = under.length - shown.length;
    found.push(h("button", { type: "button", class: "plain more", onclick: showMore }, `Show ${left} more`));
  }
  return found;
}

/** Of what passes the cut and of what does not. */
const HEADINGS = {
  threshold: ["Above the threshold", "Below the threshold"],
  best: ["Best", "Further down"],
  precision: ["With the precision asked for", "Below it"],
};

function noneAbove() {
  const what = desk.current?.calibrated ? "chances" : "scores";
  const why = desk.choice.by === "threshold" ? "scores above the threshold" : "promises this precision";
  return `No concept ${why}. The best ones, with their ${what}:`;
}

const empty = (sentence) => h("p", { class: "empty" }, sentence);
const lines = (name, label, infos) => h("ol", { class: name, "aria-label": label }, ...infos.map(line));

function showMore() {
  more = true;
  draw();
  rows()[Math.min(rows().length - 1, desk.above.length + BELOW)]?.querySelector(".light").focus();
}

// --- drawing, and where the focus is ------------------------------------------------------------

const rows = () => [...$("list").querySelectorAll(".line")];
const buttons = (one) => [...one.querySelectorAll("button")];
let at = { id: null, button: 0 }; // the line and the button that Tab comes to

function draw() {
  const { work } = desk;
  if (!work) return;
  const list = $("list");
  const focused = list.contains(document.activeElement);
  const top = list.scrollTop;
  $("concepts").classList.toggle("comparing", Boolean(work.other));
  $("desk").classList.toggle("comparing", Boolean(work.other));
  list.replaceChildren(...(work.other ? pair() : single()));
  list.setAttribute("aria-busy", String(desk.stale));
  list.scrollTop = top;
  rove(focused);
  const all = work.predictions?.length;
  $("counts").textContent = all && !work.other ? `${desk.above.length} of ${all}` : "";
  $("all").disabled = !desk.above.some((one) => !desk.decisions.of(one.id));
  const { last } = desk.decisions;
  $("undo").disabled = !last;
  $("undo").title = last ? `Undo: ${last.what}` : "";
  if (!work.other && !desk.stale) desk.lights.because(rows().map((one) => one.dataset.id));
}

/** The words behind a suggestion come later than it: they are written into its line. */
function drawReasons() {
  for (const row of $("list").querySelectorAll(".lines .line")) {
    const info = desk.work?.predictions?.find((one) => one.id === row.dataset.id);
    if (info) row.querySelector(".because").textContent = because(info);
  }
}

/** One button of the list is in the order of Tab; arrows move it. */
function rove(focus) {
  const all = rows();
  if (!all.length) return;
  const place = all.find((one) => one.dataset.id === at.id) ?? all[0];
  const found = buttons(place);
  const button = found[Math.min(at.button, found.length - 1)];
  for (const one of $("list").querySelectorAll("[tabindex='0']")) one.tabIndex = -1;
  button.tabIndex = 0;
  if (focus) button.focus({ preventScroll: true });
}

function move(event) {
  const place = event.target.closest(".line");
  if (!place) return;
  const all = rows();
  const row = all.indexOf(place);
  const column = buttons(place).indexOf(event.target);
  const steps = {
    ArrowDown: [1, 0],
    ArrowUp: [-1, 0],
    ArrowRight: [0, 1],
    ArrowLeft: [0, -1],
    Home: [-all.length, 0],
    End: [all.length, 0],
  };
  const step = steps[event.key];
  if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  focusLine(row + step[0], column + step[1]);
}

function focusLine(row, column = 0) {
  const all = rows();
  if (!all.length) return;
  const place = all[Math.max(0, Math.min(all.length - 1, row))];
  const found = buttons(place);
  const button = Math.max(0, Math.min(found.length - 1, column));
  at = { id: place.dataset.id, button };
  rove(false);
  found[button].focus();
  place.scrollIntoView({ block: "nearest" });
}

export function focusList() {
  focusLine(Math.max(0, rows().findIndex((one) => one.dataset.id === at.id)), at.button);
}

/** The concept whose line has the focus. */
export function focusedInfo() {
  const place = document.activeElement?.closest?.(".line");
  if (!place) return null;
  const { id } = place.dataset;
  const compared = desk.work.other && desk.compared?.labels.find((one) => one.id === id);
  return compared ? scored(compared, 0) : desk.work.predictions?.find((one) => one.id === id);
}

/** Decide on the concept that has the focus, and go on to the next. */
export function decideFocused(state) {
  const info = focusedInfo();
  if (!info) {
    focusList();
    return;
  }
  const row = rows().findIndex((one) => one.dataset.id === info.id);
  if (desk.decisions.decide(info, state)) focusLine(row + 1);
}

/** Light the suggestion of this rank. */
export function lightRank(rank) {
  const info = desk.work?.predictions?.[rank - 1];
  if (info && !desk.work.other) desk.lights.toggle(info);
}

export function startSuggestions() {
  desk.on("document", () => {
    more = false;
    at = { id: null, button: 0 };
    $("list").scrollTop = 0;
  });
  desk.on("models document predictions decisions lit threshold compare progress model", draw);
  $("list").addEventListener("keydown", move);
  $("list").addEventListener("focusin", (event) => {
    const place = event.target.closest(".line");
    if (!place) return;
    at = { id: place.dataset.id, button: buttons(place).indexOf(event.target) };
    rove(false);
  });
  $("all").addEventListener("click", () => desk.decisions.acceptAll());
  $("undo").addEventListener("click", () => {
    desk.decisions.undo();
    if ($("undo").disabled) focusList();
  });
  $("threshold").addEventListener("input", () => {
    const many = stops()[Number($("threshold").value)];
    desk.choose(settingFor(desk.choice.by, many, scores()));
  });
  $("threshold").addEventListener("change", () => desk.sayAbove());
  $("by").addEventListener("change", () => {
    desk.choose({ by: $("by").value });
    desk.sayAbove();
  });
  $("own").addEventListener("click", () => {
    desk.choose({ threshold: null });
    desk.sayAbove();
  });
  desk.on("models model threshold document settings predictions", drawThreshold);
  desk.on("reasons", drawReasons);
}

const scores = () => (desk.work?.predictions ?? []).map((one) => one.score);

/** How many suggestions each stop of the slider leaves: a stop wherever the scores have one. To the
 * right it is stricter, or, by number, there are more. */
function stops() {
  const found = steps(scores());
  return desk.choice.by === "best" ? found : found.reverse();
}

function drawThreshold() {
  if (!desk.current) return;
  const { by, best, precision, threshold } = desk.choice;
  const all = stops();
  const many = desk.above.length;
  const here = all.findIndex((one) => (by === "best" ? one >= many : one <= many));
  $("by").value = by;
  $("threshold").max = Math.max(0, all.length - 1);
  $("threshold").value = here < 0 ? all.length - 1 : here;
  $("threshold").disabled = !all.length;
  const value = { threshold: threshold.toFixed(3), best, precision: `${(100 * precision).toFixed(0)} %` }[by];
  $("threshold-value").textContent = value;
  $("threshold").setAttribute("aria-valuetext", `${value}: ${many} of ${scores().length}`);
  $("own").hidden = by !== "threshold";
  $("own").disabled = desk.settings.thresholds[desk.current.id] === undefined;
  const lists = [desk.settings.include, desk.settings.exclude].filter((one) => one.trim()).length;
  $("lists").classList.toggle("on", lists > 0);
}
