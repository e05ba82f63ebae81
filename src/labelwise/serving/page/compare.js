/** Two models side by side on one document. */

import { desk } from "./desk.js";
import { h, shownScore } from "./dom.js";
import { bar, choices, named, ranked } from "./lines.js";

const unseen = (words) => h("span", { class: "unseen" }, words);

/** The table, or that it is on its way. */
export function pair() {
  const { work, compared } = desk;
  if (!compared) return [h("p", { class: "empty" }, `Asking ${work.model} and ${work.other}.`)];
  const head = (name) => h("th", { scope: "col" }, name);
  const decision = unseen("Decision");
  return [
    h("p", { class: "hint sum" }, summary()),
    h(
      "table",
      { class: "pair" },
      h("caption", { class: "unseen" }, `Suggestions of ${work.model} and ${work.other}`),
      h("thead", {}, h("tr", {}, head("Concept"), ...compared.models.map(head), head(decision))),
      h("tbody", {}, ...compared.labels.map(row)),
    ),
  ];
}

function summary() {
  const { labels, models } = desk.compared;
  const both = labels.filter((one) => one.assigned.every(Boolean)).length;
  const only = (n) => labels.filter((one) => one.assigned[n] && !one.assigned[1 - n]).length;
  return (
    `Both assign ${both}, only ${models[0]} ${only(0)}, only ${models[1]} ${only(1)}. ` +
    "Scores of two models are not on one scale: compare ranks."
  );
}

function row(info) {
  return h(
    "tr",
    {
      class: "line",
      "data-id": info.id,
      "data-state": desk.decisions.of(info.id),
      "data-agree": info.assigned.map(Number).join(""),
    },
    h("th", { scope: "row" }, named(info)),
    ...desk.compared.models.map((model, n) => h("td", {}, cell(info, model, n))),
    h("td", {}, choices(scored(info, 0))),
  );
}

/** A compared label, as the one of its models sees it. */
export function scored(info, n) {
  const { scores, ranks, assigned, ...rest } = info;
  return { ...rest, score: scores[n], rank: ranks[n], model: desk.compared.models[n] };
}

function cell(info, model, n) {
  if (!info.ranks[n]) return h("span", { class: "hint" }, "not in model");
  const lit = desk.lights.lit(info.id, model);
  const score = shownScore(info.scores[n]);
  return h(
    "button",
    {
      type: "button",
      class: "light",
      tabindex: "-1",
      "aria-pressed": String(Boolean(lit)),
      "data-assigned": String(info.assigned[n]),
      onclick: () => desk.lights.toggle(scored(info, n), model),
    },
    unseen(`${info.descriptor} by ${model}, rank `),
    ranked(info.ranks[n], lit),
    bar(info.scores[n], lit?.colour),
    unseen(", score "),
    h("span", { class: "value" }, score),
  );
}
