/** The desk is put together here. */

import { startAgreement } from "./agreement.js";
import { finish, learnStopped, open, refresh, store, unsaved, withdraw } from "./acts.js";
import { Problem, hooks, learnLimits, useKey } from "./api.js";
import { startChosen } from "./chosen.js";
import { startConflict } from "./conflict.js";
import { desk } from "./desk.js";
import { $, count, h } from "./dom.js";
import { startExport } from "./export.js";
import { startIdentity } from "./identity.js";
import { startLegend } from "./legend.js";
import { startKeys } from "./keys.js";
import { startLists } from "./lists.js";
import { notice, startMessages, trouble } from "./messages.js";
import { startOutline } from "./outline.js";
import { startPeople } from "./people.js";
import { startSearch } from "./search.js";
import { knowMe, startSignIn } from "./signin.js";
import { startStart } from "./start.js";
import { startSuggestions } from "./suggestions.js";
import { showTab, startText } from "./text.js";
import { startWorklist } from "./worklist.js";

// --- the bar ----------------------------------------------------------------------------------

function drawTitle() {
  const { work } = desk;
  const view = work ? "desk" : place().view;
  document.body.dataset.view = view;
  document.body.dataset.act = String(Boolean(work?.act));
  $("title").textContent = work ? work.title : titleOf(view);
  $("title").title = work?.title ?? "";
  $("edit").hidden = work?.act?.reading === 2; // that of the first reader
  for (const one of document.querySelectorAll(".places a")) {
    const here = !work && (VIEWS[one.hash] ?? "worklist") === view;
    if (here) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  document.title = work ? `${work.title.slice(0, 80)} · labelwise desk` : "labelwise desk";
  drawFacts();
}

const VIEWS = { "#/add": "start", "#/agreement": "agreement", "#/people": "people" };
const TITLES = { start: "Index a document", worklist: "Worklist", agreement: "Agreement", people: "People" };

const titleOf = (view) => (view === "start" && store.on ? "Add acts" : TITLES[view]);

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
    if (work.act) facts.push(...standing(work.act));
  }
  $("facts").textContent = facts.join(" · ");
}

/** How an act of the worklist stands: "open · Ana". */
function standing({ reading, state, who }) {
  return [reading === 2 ? `second reading ${state}` : state, who].filter(Boolean);
}

function drawAct() {
  const { work } = desk;
  if (!work?.act) return;
  const { state, reading } = work.act;
  const away = state === "withdrawn";
  const done = state === "done" ? "Reopen" : reading === 2 ? "Done" : "Done, next";
  $("done").textContent = away ? "Bring back" : done;
  $("done").hidden = away && store.me.role !== "admin";
  $("withdraw").hidden = away || reading === 2;
  drawFacts();
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
  drawNames();
  $("synthetic").hidden = !desk.models.some((one) => one.synthetic);
}

/** In which language concepts are named, where there is a choice. */
function drawNames() {
  const { current, settings } = desk;
  const names = new Intl.DisplayNames("en", { type: "language" });
  const option = (code, name) => h("option", { value: code, selected: settings.labels === code }, name);
  $("names").replaceChildren(
    ...(current ? [option("", names.of(current.language))] : []),
    ...(current?.languages ?? []).map((code) => option(code, names.of(code))),
  );
  $("names").closest("label").hidden = !current?.languages.length;
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
  if (store.on) {
    await followAct();
    return;
  }
  const id = location.hash.slice(1);
  if (id === (desk.work?.id ?? "")) return;
  if (/^[\da-f-]+$/.test(id) && (await desk.resume(id))) return;
  if (id) history.replaceState(null, "", location.pathname);
  desk.close();
}

/** Where the address leads: {view}, or {act, reading} with a worklist. */
function place() {
  if (!store.on) return { view: "start" };
  const [, kind, id] = /^#\/(act|second)\/(.+)$/.exec(location.hash) ?? [];
  if (kind) return { act: decoded(id), reading: kind === "second" ? 2 : 1, view: "worklist" };
  return { view: VIEWS[location.hash] ?? "worklist" };
}

function decoded(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // not written by us: the service has no such act
  }
}

let opening = "";

/** With a worklist: `#/act/32019R0532` is an act that a colleague can open by the same address. */
async function followAct() {
  const { act, reading } = place();
  if (!act) {
    desk.close();
    desk.tell("worklist");
    return;
  }
  const here = desk.work?.act;
  const whither = location.hash;
  if ((here?.id === act && here.reading === reading) || opening === whither) return;
  if (here) notice("");
  opening = whither; // a click tells twice: the address changed, and the history did
  const opened = await open(act, reading);
  opening = "";
  if (!opened && !desk.work) location.replace("#/worklist");
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
startLegend();
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
startSignIn();
startConflict();
startWorklist();
startAgreement();
startPeople();

desk.on("document", () => {
  drawTitle();
  drawModels();
  showTab("concepts");
});
desk.on("title", drawTitle);
desk.on("settings", drawTheme);
desk.on("predictions", drawFacts);
desk.on("models model compare", drawModels);
desk.on("act", drawAct);
desk.on("keeping", () => {
  $("unkept").hidden = !desk.reason;
  $("unkept").textContent =
    `This work cannot be kept for later (${desk.reason}): export it before you leave.`;
});

$("model").addEventListener("change", () => desk.useModel($("model").value));
$("names").addEventListener("change", () => desk.useNames($("names").value));
$("compare").addEventListener("change", () => desk.compareWith($("compare").value));
$("new").addEventListener("click", () => {
  if (store.on) {
    location.hash = "#/add";
    return;
  }
  history.pushState(null, "", location.pathname);
  desk.close();
  $("pasted").focus();
});
$("theme").addEventListener("click", nextTheme);
$("stop").addEventListener("click", () => desk.stop());
document.querySelector(".name").addEventListener("click", (event) => {
  event.preventDefault();
  if (store.on) location.hash = "#/worklist";
  else $("new").click();
});
// What stands after # is a document: a jump within the page would close the one that is open.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  showTab("concepts");
  $("list").focus();
});
$("done").addEventListener("click", finish);
$("withdraw").addEventListener("click", () => $("withdraw-dialog").showModal());
$("withdraw-sure").addEventListener("click", () => {
  $("withdraw-dialog").close();
  withdraw();
});
addEventListener("popstate", follow);
addEventListener("hashchange", follow);
addEventListener("pagehide", () => desk.leavePage());
addEventListener("visibilitychange", () => (document.hidden ? desk.saveNow() : refresh()));
addEventListener("beforeunload", (event) => unsaved() && event.preventDefault());

/** A service with a worklist is another desk: nobody works at it before it is known who they are. */
async function begin() {
  try {
    store.on = await learnLimits();
    document.body.dataset.store = String(store.on);
    if (!store.on) return;
    await knowMe();
    await learnStopped();
  } catch (error) {
    trouble("begin", error, () => begin().then(follow));
  }
}

desk.listen();
await begin();
desk.loadModels();
await follow();
drawTitle();
if (!desk.work) $("pasted").focus();
