/** The desk is put together here. */

import { Problem, hooks, useKey } from "./api.js";
import { startChosen } from "./chosen.js";
import { desk } from "./desk.js";
import { $, count, h } from "./dom.js";
import { startExport } from "./export.js";
import { startIdentity } from "./identity.js";
import { startKey } from "./key.js";
import { startKeys } from "./keys.js";
import { startLists } from "./lists.js";
import { startMessages } from "./messages.js";
import { startOutline } from "./outline.js";
import { startSearch } from "./search.js";
import { startStart } from "./start.js";
import { startSuggestions } from "./suggestions.js";
import { showTab, startText } from "./text.js";

// --- the bar ----------------------------------------------------------------------------------

function drawTitle() {
  const { work } = desk;
  document.body.dataset.view = work ? "desk" : "start";
  $("title").textContent = work ? work.title : "Index a document";
  $("title").title = work?.title ?? "";
  document.title = work ? `${work.title.slice(0, 80)} · labelwise desk` : "labelwise desk";
  drawFacts();
}

function drawFacts() {
  const { work } = desk;
  const facts = [];
  if (work) {
    facts.push(count(work.words, "word"), count(work.sections.length, "section"));
    if (work.wordsRead !== null && work.wordsRead < work.words) {
      const read = count(work.wordsRead, "word");
      facts.push(`the model reads the first ${read}; choose “section by section” for the rest`);
    }
    for (const one of new Set([work.name, work.source])) if (one) facts.push(one);
  }
  $("facts").textContent = facts.join(" · ");
}

function drawModels() {
  const option = (one, chosen) => {
    const node = h("option", { value: one.id }, one.id === one.method ? one.id : `${one.id} (${one.method})`);
    node.selected = one.id === chosen;
    return node;
  };
  const current = desk.current?.id;
  $("model").replaceChildren(...desk.models.map((one) => option(one, current)));
  $("model").disabled = !desk.models.length;
  const others = desk.models.filter((one) => one.id !== current);
  const none = h("option", { value: "" }, "no other");
  $("compare").replaceChildren(none, ...others.map((one) => option(one, desk.work?.other)));
  $("compare").disabled = !others.length;
  $("compare").closest("label").hidden = !others.length;
  $("synthetic").hidden = !desk.models.some((one) => one.synthetic);
}

// --- light and dark ---------------------------------------------------------------------------

const THEMES = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };

function drawTheme() {
  const { theme } = desk.settings;
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = THEMES[theme] ?? THEMES.auto;
}

function nextTheme() {
  const names = Object.keys(THEMES);
  desk.keepSettings({ theme: names[(names.indexOf(desk.settings.theme) + 1) % names.length] });
}

// --- addresses --------------------------------------------------------------------------------

/** What stands after # is the work that is open, so that reload, back and forward do as they should. */
async function follow() {
  const id = location.hash.slice(1);
  if (id === (desk.work?.id ?? "")) return;
  if (/^[\da-f-]+$/.test(id) && (await desk.resume(id))) return;
  if (id) history.replaceState(null, "", location.pathname);
  desk.close();
}

// --- dialogs ----------------------------------------------------------------------------------

function startDialogs() {
  $("help").addEventListener("click", () => $("help-dialog").showModal());
  for (const one of document.querySelectorAll("[data-close]")) {
    one.addEventListener("click", () => one.closest("dialog").close());
  }
  let unlocked = null; // one dialog, however many requests were refused
  hooks.unlock = (problem) => {
    $("key-problem").textContent = problem;
    if (!unlocked) {
      unlocked = new Promise((done, failed) => {
        $("key-form").onsubmit = (event) => {
          event.preventDefault();
          useKey($("key").value);
          $("key-dialog").close("used");
        };
        $("key-dialog").onclose = () => {
          unlocked = null;
          if ($("key-dialog").returnValue === "used") done();
          else failed(new Problem(401, { detail: "without a key the service answers nothing" }));
          $("key-dialog").returnValue = "";
        };
      });
      $("key-dialog").showModal();
    }
    return unlocked;
  };
}

function startTabs() {
  const tabs = [...$("tabs").children];
  for (const tab of tabs) tab.addEventListener("click", () => showTab(tab.getAttribute("aria-controls")));
  $("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
}

// --- start ------------------------------------------------------------------------------------

drawTheme();
startMessages();
startDialogs();
startText();
startKey();
startOutline();
startSuggestions();
startChosen();
startSearch();
startExport();
startLists();
startIdentity();
startStart();
startKeys();
startTabs();

desk.on("document", () => {
  drawTitle();
  drawModels();
  showTab("concepts");
});
desk.on("title", drawTitle);
desk.on("settings", drawTheme);
desk.on("predictions", drawFacts);
desk.on("models model compare", drawModels);
desk.on("keeping", () => {
  $("unkept").hidden = !desk.reason;
  $("unkept").textContent =
    `This work cannot be kept for later (${desk.reason}): export it before you leave.`;
});

$("model").addEventListener("change", () => desk.useModel($("model").value));
$("compare").addEventListener("change", () => desk.compareWith($("compare").value));
$("new").addEventListener("click", () => {
  history.pushState(null, "", location.pathname);
  desk.close();
  $("pasted").focus();
});
$("theme").addEventListener("click", nextTheme);
$("stop").addEventListener("click", () => desk.stop());
document.querySelector(".name").addEventListener("click", (event) => {
  event.preventDefault();
  $("new").click();
});
addEventListener("popstate", follow);
addEventListener("hashchange", follow);
addEventListener("pagehide", () => desk.leavePage());
addEventListener("visibilitychange", () => document.hidden && desk.saveNow());

desk.listen();
desk.loadModels();
await follow();
if (!desk.work) $("pasted").focus();
