/** The table of acts: filtered, sorted, searched; acts come in, and leave as files. */

import { addressOf, store } from "./acts.js";
import * as api from "./api.js";
import { desk } from "./desk.js";
import { $, count, h, number } from "./dom.js";
import { say, settled, trouble } from "./messages.js";

const PIECE = 100; // lines that are asked for at a time
const WAIT = 150; // milliseconds after the last key
const AGAIN = 20_000; // milliseconds until others' work is looked at again

const COLUMNS = [
  ["act", "Act"],
  ["state", "State"],
  ["suggested", "Suggested"],
  ["chosen", "Chosen"],
  ["who", "Who"],
  ["when", "When"],
];
const FIGURES = ["suggested", "chosen"];

const wanted = { state: "", by: "", q: "", sort: "added", descending: false, limit: PIECE };
let asking = new AbortController();
let found = null;
let drawn = "";
let timer = 0;

const shown = () => document.body.dataset.view === "worklist";

/** Ask for the acts that are wanted, and draw them. */
export async function list() {
  asking.abort();
  asking = new AbortController();
  const query = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value !== ""));
  try {
    const answer = await api.get(`v1/desk/acts?${query}`, asking.signal);
    settled("worklist");
    const news = JSON.stringify([wanted, store.me, answer]);
    if (news === drawn) return; // nothing moves under the hands of whoever is reading
    drawn = news;
    found = answer;
    draw();
  } catch (error) {
    trouble("worklist", error, list);
  }
}

/** Draw what was found; the focus stays where it is. */
function draw() {
  const focused = document.activeElement.closest("#acts tr")?.dataset.id;
  $("acts-head").replaceChildren(h("tr", {}, ...COLUMNS.map(heading)));
  $("acts").replaceChildren(...found.acts.map(row));
  const all = found.states.new + found.states.open + found.states.done;
  for (const one of $("acts-states").children) {
    const { state } = one.dataset;
    one.setAttribute("aria-pressed", String(wanted.state === state));
    one.querySelector("span").textContent = number(state ? found.states[state] : all);
    if (state === "withdrawn") one.hidden = store.me.role !== "admin" || !found.states.withdrawn;
  }
  const people = ["", ...found.people];
  $("acts-by").replaceChildren(...people.map((name) => h("option", { value: name }, name || "everybody")));
  $("acts-by").value = people.includes(wanted.by) ? wanted.by : "";
  $("acts-none").hidden = found.acts.length > 0;
  $("acts-none").textContent = all
    ? "No act is like that."
    : "No act is here yet. Drop files or a folder on this page, or add them by labelwise desk add.";
  const left = found.total - found.acts.length;
  $("acts-more").hidden = left <= 0;
  $("acts-more").textContent = `Show more: ${number(left)} are left`;
  $("acts-count").textContent = count(found.total, "act");
  if (focused) [...$("acts").children].find((one) => one.dataset.id === focused)?.querySelector("a").focus();
}

function heading([name, title]) {
  const sorted = wanted.sort === name;
  const direction = wanted.descending ? "descending" : "ascending";
  const arrow = wanted.descending ? " ↓" : " ↑";
  return h(
    "th",
    { scope: "col", class: FIGURES.includes(name) ? "figure" : name, "aria-sort": sorted ? direction : "none" },
    h(
      "button",
      { type: "button", class: "plain", "data-sort": name, onclick: () => sortBy(name) },
      title,
      h("span", { "aria-hidden": "true" }, sorted ? arrow : ""),
    ),
  );
}

function sortBy(name) {
  wanted.descending = wanted.sort === name ? !wanted.descending : FIGURES.includes(name);
  wanted.sort = name;
  list().then(() => document.querySelector(`[data-sort="${name}"]`)?.focus());
}

const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function row(one) {
  return h(
    "tr",
    { "data-id": one.id },
    h(
      "td",
      { class: "act" },
      h("a", { href: addressOf(one.id) }, h("b", {}, one.id), h("span", {}, one.title || "Untitled")),
      ...second(one),
    ),
    h("td", { class: "state" }, h("span", { class: "state-mark", "data-state": one.state }, one.state)),
    h("td", { class: "figure are-suggested" }, one.suggested === null ? "–" : number(one.suggested)),
    h("td", { class: "figure are-chosen" }, one.chosen ? number(one.chosen) : "–"),
    h("td", { class: "who" }, one.who || "–"),
    h("td", { class: "when" }, h("time", { datetime: one.when }, when.format(Date.parse(one.when)))),
  );
}

/** The second reader's pass: for reviewers, over acts that somebody else has done. */
function second(one) {
  const { me } = store;
  if (one.second) {
    const text = `second reading ${one.second} · ${one.second_who}`;
    const mine = one.second_who === me.name;
    return [mine ? h("a", { class: "second", href: addressOf(one.id, 2) }, text) : h("span", { class: "second" }, text)];
  }
  if (one.state !== "done" || one.who === me.name || me.role === "indexer") return [];
  return [h("a", { class: "second", href: addressOf(one.id, 2) }, "Read a second time")];
}

// --- export -------------------------------------------------------------------------------------

function openExport() {
  $("acts-export-dialog").showModal();
}

async function download() {
  const format = document.querySelector("input[name=acts-format]:checked").value;
  const every = $("acts-every").checked;
  try {
    const file = await api.file(`v1/desk/export?as=${format}&every=${every}`);
    settled("export");
    const address = URL.createObjectURL(file);
    const ending = format === "marcxml" ? "xml" : format;
    h("a", { href: address, download: `worklist.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    $("acts-export-dialog").close();
    say("Downloaded");
  } catch (error) {
    $("acts-export-dialog").close();
    trouble("export", error, download);
  }
}

// --- start --------------------------------------------------------------------------------------

export function startWorklist() {
  for (const one of $("acts-states").children) {
    one.addEventListener("click", () => {
      Object.assign(wanted, { state: one.dataset.state, limit: PIECE });
      list();
    });
  }
  $("acts-by").addEventListener("change", () => {
    Object.assign(wanted, { by: $("acts-by").value, limit: PIECE });
    list();
  });
  $("acts-search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      Object.assign(wanted, { q: $("acts-search").value.trim(), limit: PIECE });
      list();
    }, WAIT);
  });
  $("acts-more").addEventListener("click", () => {
    wanted.limit = Math.min(1000, wanted.limit + PIECE);
    list();
  });
  $("acts-export").addEventListener("click", openExport);
  $("acts-download").addEventListener("click", download);
  desk.on("worklist", () => shown() && list());
  addEventListener("visibilitychange", () => !document.hidden && shown() && list());
  setInterval(() => !document.hidden && shown() && !document.querySelector("dialog[open]") && list(), AGAIN);
}
