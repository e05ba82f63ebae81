/** Whether the machine earns its keep: what people accept, refuse and add, and how long an act takes. */

import { learnStopped, store } from "./acts.js";
import * as api from "./api.js";
import { desk } from "./desk.js";
import { $, count, h, number } from "./dom.js";
import { say, settled, trouble } from "./messages.js";

const FIRST = 10; // lines of a list that are shown before the user asks for more

const shown = () => document.body.dataset.view === "agreement";

async function load() {
  try {
    const [figures, readers] = await Promise.all([api.get("v1/desk/figures"), api.get("v1/desk/agreement")]);
    settled("agreement");
    if (shown()) draw(figures, readers);
  } catch (error) {
    trouble("agreement", error, load);
  }
}

function draw(figures, readers) {
  $("agreement").replaceChildren(
    h("div", { class: "tiles" }, ...tiles(figures, readers)),
    panel("By rank", "What becomes of the suggestion at each rank.", tally("Rank", figures.ranks, (one) => number(one.rank), ["accepted", "rejected"])),
    panel("By month", "Decisions that hold, in the month in which they were made.", tally("Month", figures.months, (one) => one.month)),
    panel("By concept", "The concepts that were decided most often.", tally("Concept", figures.concepts, (one) => one.descriptor)),
    panel("What the model misses", "Concepts that people added.", missed(figures.missed)),
    panel("What it suggests too often", "Suggested for acts that were done without it.", over(figures.over)),
    panel("Two readers", "First and second readings of the same acts.", pairs(readers)),
  );
}

const share = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "–");
const figure = (value) => (value === null ? "–" : value.toFixed(2));

function tiles({ acts, accepted, rejected, added, seconds }, { alpha }) {
  const tile = (value, words) => h("div", { class: "tile" }, h("b", {}, value), h("span", {}, words));
  return [
    tile(number(acts), acts === 1 ? "act is done" : "acts are done"),
    tile(share(accepted, accepted + rejected), "of the decided suggestions were accepted"),
    tile(share(added, accepted + added), "of the chosen concepts were added by people"),
    tile(seconds.length ? duration(seconds[1]) : "–", "is the median time of an act"),
    tile(figure(alpha), "Krippendorff's alpha of the readers"),
  ];
}

function duration(seconds) {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function panel(title, hint, content) {
  return h("section", { class: "panel" }, h("h2", {}, title), h("p", { class: "hint" }, hint), content);
}

const nothing = () => h("p", { class: "empty" }, "Nothing yet.");

function table(columns, rows) {
  if (!rows.length) return nothing();
  const body = h("tbody", {}, ...rows.slice(0, FIRST));
  const left = rows.length - FIRST;
  const more = () => {
    body.append(...rows.slice(FIRST));
    button.remove();
  };
  const button = h("button", { type: "button", class: "plain", onclick: more }, `Show ${left} more`);
  const head = h("tr", {}, ...columns.map(([name, kind]) => h("th", { scope: "col", class: kind }, name)));
  return h("div", {}, h("table", { class: "figures" }, h("thead", {}, head), body), left > 0 ? button : null);
}

const TALLIED = { accepted: "Accepted", rejected: "Rejected", added: "Added" };

/** Accepted, rejected and added (which has no rank), with a bar of the share that was accepted. */
function tally(name, all, nameOf, kinds = Object.keys(TALLIED)) {
  const columns = [[name], ...kinds.map((kind) => [TALLIED[kind], "figure"]), ["Share accepted", "share-of"]];
  const row = (one) => {
    const both = one.accepted + one.rejected;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, nameOf(one)),
      ...kinds.map((kind) => h("td", { class: "figure" }, number(one[kind]))),
      h("td", {}, h("div", { class: "shared" }, meter(one.accepted, both), h("span", {}, share(one.accepted, both)))),
    );
  };
  return table(columns, all.map(row));
}

function meter(part, whole) {
  const fill = h("span", { class: "fill", style: { width: `${whole ? (100 * part) / whole : 0}%` } });
  return h("span", { class: "meter", "aria-hidden": "true" }, fill);
}

function missed(all) {
  const row = (one) =>
    h("tr", {}, h("th", { scope: "row" }, one.descriptor), h("td", { class: "figure" }, number(one.added)));
  return table([["Concept"], ["Added", "figure"]], all.map(row));
}

function over(all) {
  const may = store.me.role !== "indexer";
  const row = (one) =>
    h(
      "tr",
      { "data-id": one.id },
      h("th", { scope: "row" }, one.descriptor),
      h("td", { class: "figure" }, number(one.suggested)),
      h("td", { class: "figure" }, number(one.refused)),
      h("td", { class: "act-on" }, may ? stopper(one) : one.stopped ? "stopped" : ""),
    );
  const columns = [["Concept"], ["Suggested", "figure"], ["Done without", "figure"], ["Stop", "act-on"]];
  return table(columns, all.map(row));
}

function stopper(one) {
  const words = one.stopped ? "Suggest again" : "Stop suggesting";
  const name = `${words} ${one.descriptor}`;
  return h("button", { type: "button", class: "plain", "aria-label": name, onclick: () => toggle(one) }, words);
}

async function toggle(one) {
  try {
    if (one.stopped) await api.remove(`v1/desk/stopped/${encodeURIComponent(one.id)}`);
    else await api.post("v1/desk/stopped", { concept: one.id });
    settled("stop");
    await learnStopped();
    say(`${one.descriptor} is ${one.stopped ? "suggested again" : "suggested to nobody any more"}`);
    await load();
    document.querySelector(`#agreement tr[data-id="${CSS.escape(one.id)}"] button`)?.focus();
  } catch (error) {
    trouble("stop", error, () => toggle(one));
  }
}

function pairs({ pairs: all, acts }) {
  if (!all.length) return h("p", { class: "empty" }, "No act was read by two people yet.");
  const row = (one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, `${one.first}, ${one.second}`),
      ...[number(one.acts), figure(one.kappa), figure(one.overlap)].map((value) => h("td", { class: "figure" }, value)),
    );
  const columns = [["Readers"], ["Acts", "figure"], ["Cohen's kappa", "figure"], ["F1", "figure"]];
  return h("div", {}, table(columns, all.map(row)), h("p", { class: "hint" }, `${count(acts, "act")} read twice.`));
}

export function startAgreement() {
  desk.on("worklist", () => shown() && load());
}
