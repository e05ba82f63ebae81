/** Add a concept by its id or any of its names: of the model, or of its thesaurus. */

import * as api from "./api.js";
import { desk } from "./desk.js";
import { $, count, h } from "./dom.js";
import { above, marks } from "./lines.js";
import { say, settled, trouble } from "./messages.js";

const WAIT = 120; // milliseconds after the last key
const MOST = 20;

let found = [];
let answered = ""; // the words that `found` is the answer to
let active = -1;
let timer = 0;
let asking = new AbortController();

async function ask() {
  const words = $("search").value.trim();
  asking.abort();
  if (!words) {
    close();
    return;
  }
  asking = new AbortController();
  try {
    const query = new URLSearchParams({ q: words, limit: MOST, ...desk.named });
    if (desk.work.model) query.set("model", desk.work.model);
    const answer = await api.get(`v1/labels?${query}`, asking.signal);
    settled("search");
    found = answer.labels;
    answered = words;
    active = found.length ? 0 : -1;
    draw(answer.total);
    say(found.length ? `${count(answer.total, "concept")} found` : "No concept found");
  } catch (error) {
    trouble("search", error, ask);
  }
}

function draw(total) {
  const more = total - found.length;
  const hint = !found.length
    ? "No concept has this id, or a name with words that begin like these."
    : more && `and ${count(more, "more concept")}: type more`;
  $("found").replaceChildren(
    ...found.map(option),
    ...(hint ? [h("li", { class: "empty", role: "presentation" }, hint)] : []),
  );
  $("found").hidden = false;
  $("search").setAttribute("aria-expanded", "true");
  point();
}

function option(info, n) {
  const state = desk.decisions.of(info.id);
  return h(
    "li",
    {
      role: "option",
      id: `found-${n}`,
      onmousedown: (event) => event.preventDefault(), // the focus stays in the search
      onclick: () => choose(info),
    },
    h(
      "span",
      { class: "descriptor" },
      info.matched ? h("span", { class: "matched" }, `${info.matched} → `) : null,
      info.descriptor,
      ...marks(info),
      state ? h("span", { class: "hint" }, ` ${state}`) : null,
    ),
    h("span", { class: "place" }, above(info)),
  );
}

function point() {
  for (const [n, one] of [...$("found").querySelectorAll("[role=option]")].entries()) {
    one.setAttribute("aria-selected", String(n === active));
    if (n === active) one.scrollIntoView({ block: "nearest" });
  }
  if (active >= 0) $("search").setAttribute("aria-activedescendant", `found-${active}`);
  else $("search").removeAttribute("aria-activedescendant");
}

function close() {
  clearTimeout(timer);
  $("found").hidden = true;
  $("search").setAttribute("aria-expanded", "false");
  $("search").removeAttribute("aria-activedescendant");
  found = [];
  answered = "";
  active = -1;
}

/** Enter takes what was found for the words that stand there, and waits for it where need be. */
async function enter() {
  const words = $("search").value.trim();
  if (answered !== words) {
    clearTimeout(timer);
    await ask();
  }
  const still = document.activeElement === $("search") && $("search").value.trim() === answered;
  if (words && still && found[active]) choose(found[active]);
}

function choose(info) {
  $("search").value = "";
  close();
  if (desk.decisions.of(info.id) === "accepted") say(`${info.descriptor} is chosen already`);
  else desk.decisions.add(info);
}

function key(event) {
  if (event.key === "Escape") {
    if ($("found").hidden) $("list").focus();
    $("search").value = "";
    close();
    event.stopPropagation();
  } else if (event.key === "Enter") {
    enter();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length) {
    active = (active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
    point();
  } else {
    return;
  }
  event.preventDefault();
}

export function startSearch() {
  $("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  });
  $("search").addEventListener("keydown", key);
  $("search").addEventListener("blur", close);
  $("search").addEventListener("focus", () => $("search").value.trim() && ask());
}
