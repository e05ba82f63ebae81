/** Where a document comes from: pasted, dropped, opened, an example, or kept from before. */

import { desk } from "./desk.js";
import { $, count, h, icon } from "./dom.js";
import * as keep from "./keep.js";
import { say, trouble } from "./messages.js";

const EXAMPLES = [
  ["citrus.txt", "Import licences for citrus fruit", "a regulation of two pages"],
  ["disease.txt", "Measures against foot-and-mouth disease", "a decision with an annex"],
  ["fisheries.txt", "Catch quotas and control of fishing vessels", "a longer regulation"],
];

function readPasted() {
  const text = $("pasted").value;
  if (!text.trim()) {
    $("pasted").focus();
    say("Paste a text first");
    return;
  }
  desk.read(new Blob([text], { type: "text/plain" }), { text: true, name: "pasted text" });
}

function readFile(file) {
  if (file) desk.read(file);
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
  const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  $("kept").replaceChildren(
    ...all.map((one) => {
      const chosen = Object.values(one.decisions).filter((decision) => decision.state === "accepted").length;
      return h(
        "li",
        {},
        h("a", { href: `#${one.id}` }, h("b", {}, one.title || "Untitled"), h("span", { class: "hint" }, `${count(one.words, "word")} · ${count(chosen, "concept")} chosen · ${when.format(one.saved)}`)),
        h("button", { type: "button", class: "small", "aria-label": `Forget ${one.title}`, title: "Forget", onclick: () => forget(one.id) }, icon("cross")),
      );
    }),
  );
}

async function forget(id) {
  await keep.forget(id);
  await drawKept();
  $("pasted").focus();
}

function drawMany() {
  const { documents, more, name } = desk.many;
  $("many-hint").textContent = `${name} holds ${more ? `more than ${documents.length}` : documents.length} documents.`;
  $("many").replaceChildren(
    ...documents.map((one) =>
      h("li", {}, h(
        "button",
        { type: "button", onclick: () => {
          $("many-dialog").close();
          desk.begin(one, name);
        } },
        h("b", {}, one.title || one.id),
        h("span", { class: "hint" }, `${one.id} · ${count(one.words, "word")}`),
      )),
    ),
  );
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
  addEventListener("drop", (event) => {
    $("drop").hidden = true;
    if (!hasFile(event)) return;
    event.preventDefault();
    if (document.querySelector("dialog[open]")) return;
    const { files } = event.dataTransfer;
    if (files.length > 1) say(`${files.length} files were dropped; the first is read`);
    readFile(files[0]);
  });
}

export function startStart() {
  $("suggest").addEventListener("click", readPasted);
  $("pasted").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) readPasted();
  });
  $("file").addEventListener("change", () => {
    readFile($("file").files[0]);
    $("file").value = "";
  });
  $("examples").replaceChildren(
    ...EXAMPLES.map(([name, title, hint]) =>
      h("li", {}, h("button", { type: "button", onclick: () => readExample(name, title) }, h("b", {}, title), h("span", { class: "hint" }, hint)))),
  );
  $("forget").addEventListener("click", async () => {
    await keep.forgetAll();
    drawKept();
  });
  desk.on("many", drawMany);
  desk.on("document", () => {
    if (!desk.work) drawKept();
    else $("pasted").value = "";
  });
  watchDrops();
  drawKept();
}
