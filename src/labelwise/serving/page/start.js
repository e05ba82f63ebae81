/** Where a document comes from: pasted, dropped, opened, an example, or kept from before. */

import { desk } from "./desk.js";
import { $, count, h, smallButton } from "./dom.js";
import { filesOf } from "./folders.js";
import * as keep from "./keep.js";
import { say, trouble } from "./messages.js";

const EXAMPLES = [
  ["citrus.txt", "Import licences for citrus fruit", "a short regulation"],
  ["disease.txt", "Measures against foot-and-mouth disease", "a decision with an annex"],
  ["fisheries.txt", "Catch quotas and control of fishing vessels", "a longer regulation"],
];

/** One word that names an act: a CELEX number, an ELI, or an address of EUR-Lex. */
const ACT = new RegExp(
  "^(?:(?:celex:)?[0-9ce](?:19|20)\\d\\d[a-z]{1,2}\\d{4}(?:r?\\(\\d\\d\\))?(?:-\\d{8})?" +
    "|/?eli/\\S+|(?:https?://)?(?:www\\.)?(?:eur-lex|data|publications)\\.europa\\.eu/\\S+)$",
  "i",
);

function readPasted() {
  const text = $("pasted").value;
  if (!text.trim()) {
    $("pasted").focus();
    say("Paste a text first");
    return;
  }
  const act = text.trim();
  if (ACT.test(act)) desk.read(null, { act, name: act });
  else desk.read(new Blob([text], { type: "text/plain" }), { text: true, name: "pasted text" });
}

function readFiles(files) {
  if (files.length > 1) desk.readAll([...files]);
  else if (files.length) desk.read(files[0]);
}

async function readExample(name, title) {
  try {
    const answer = await fetch(`page/examples/${name}`);
    if (!answer.ok) throw new Error(`the example ${name} is missing`);
    desk.read(await answer.blob(), { text: true, name: title });
  } catch (error) {
    trouble("read", error, () => readExample(name, title));
  }
}

async function drawKept() {
  let all = [];
  try {
    all = await keep.kept();
  } catch (error) {
    desk.unkept(error.message);
  }
  $("recent").hidden = !all.length;
  $("kept").replaceChildren(...all.map(keptItem));
}

const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function keptItem(one) {
  const chosen = Object.values(one.decisions).filter((other) => other.state === "accepted").length;
  const facts = [count(one.words, "word"), `${count(chosen, "concept")} chosen`, when.format(one.saved)];
  if (one.decided) facts.push(keep.settledWork(one) ? "exported" : "not exported");
  return h(
    "li",
    {},
    h(
      "a",
      { href: `#${one.id}` },
      h("b", {}, one.title || "Untitled"),
      h("span", { class: "hint" }, facts.join(" · ")),
    ),
    smallButton("cross", `Forget ${one.title}`, () => forget([one])),
  );
}

/** Forget documents; what was decided and not exported is gone then, so that this is asked. */
function forget(works) {
  const lost = works.filter((one) => one.decided && !keep.settledWork(one)).length;
  const which = works.length === 1 ? `“${works[0].title}”` : count(works.length, "document");
  const decided = lost === 1 && works.length === 1 ? "Its decisions were" : `The decisions about ${lost} of them were`;
  $("forget-what").textContent = `Forget ${which}?${lost ? ` ${decided} not exported and would be lost.` : ""}`;
  $("forget-sure").onclick = async () => {
    $("forget-dialog").close();
    await keep.forget(works.map((one) => one.id));
    await drawKept();
    $("pasted").focus();
  };
  $("forget-dialog").showModal();
}

/** A document that can be chosen. */
function card(title, hint, onclick) {
  const words = [h("b", {}, title), h("span", { class: "hint" }, hint)];
  return h("li", {}, h("button", { type: "button", onclick }, ...words));
}

function drawMany() {
  const { documents, more, name } = desk.many;
  const sum = `${more ? "more than " : ""}${documents.length}`;
  $("many-hint").textContent = `${name} holds ${sum} documents.`;
  const choose = (one) => () => {
    $("many-dialog").close();
    desk.begin(one, name);
  };
  $("many").replaceChildren(
    ...documents.map((one) =>
      card(one.title || one.id, `${one.id} · ${count(one.words, "word")}`, choose(one)),
    ),
  );
  $("many-all").onclick = () => {
    $("many-dialog").close();
    desk.beginAll(documents.map((one) => [one, name]));
  };
  $("many-dialog").showModal();
}

function watchDrops() {
  const hasFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    $("drop").hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) $("drop").hidden = true;
  });
  addEventListener("drop", async (event) => {
    $("drop").hidden = true;
    if (!hasFile(event)) return;
    event.preventDefault();
    if (document.querySelector("dialog[open]")) return;
    readFiles(await filesOf(event.dataTransfer));
  });
}

export function startStart() {
  $("suggest").addEventListener("click", readPasted);
  $("pasted").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) readPasted();
  });
  $("file").addEventListener("change", () => {
    readFiles($("file").files);
    $("file").value = "";
  });
  $("folder").addEventListener("change", () => {
    readFiles([...$("folder").files].filter((one) => !one.name.startsWith(".")));
    $("folder").value = "";
  });
  $("examples").replaceChildren(
    ...EXAMPLES.map(([name, title, hint]) => card(title, hint, () => readExample(name, title))),
  );
  $("forget").addEventListener("click", async () => forget(await keep.kept()));
  desk.on("kept", drawKept);
  desk.on("many", drawMany);
  desk.on("document", () => {
    if (!desk.work) drawKept();
    else $("pasted").value = "";
  });
  watchDrops();
  drawKept();
}
