/** The export dialog: a look at the file, then download or copy. */

import { desk } from "./desk.js";
import { $, count, h } from "./dom.js";
import { addressOf, asCsv, asJson, asTurtle } from "./formats.js";
import { say, trouble } from "./messages.js";

const TYPES = {
  json: ["application/json", asJson],
  csv: ["text/csv", asCsv],
  ttl: ["text/turtle", (exported) => asTurtle(exported, desk.current?.language ?? "en")],
};

const format = () => document.querySelector("input[name=format]:checked").value;

/** Everything that was decided, with where it comes from. */
function exported() {
  const { work } = desk;
  const accepted = desk.decisions
    .list("accepted")
    .map((one) => shown(one, one.how === "added" ? "added" : "accepted"));
  const open = desk.above
    .filter((one) => $("undecided").checked && !desk.decisions.of(one.id))
    .map((one) => shown({ ...one, model: work.model }, "suggested"));
  const uri = $("address").value.trim() || addressOf(work.name, work.id);
  return {
    document: { uri, id: work.name, title: work.title, source: work.source, words: work.words },
    model: work.model,
    choice: settingOf(desk.choice),
    exported: new Date().toISOString(),
    concepts: [...accepted, ...open],
    rejected: desk.decisions.list("rejected").map((one) => shown(one, "rejected")),
  };
}

/** How suggestions were cut: {by: "best", best: 5}. */
const settingOf = ({ by, ...values }) => ({ by, [by]: values[by] });

function shown(one, decision) {
  return {
    id: one.id,
    uri: one.uri,
    descriptor: one.descriptor,
    decision,
    score: one.score ?? null,
    rank: one.rank ?? null,
    model: one.score === null ? null : one.model,
    decided: one.at ? new Date(one.at).toISOString() : null,
    group: one.group,
    place: one.place.path,
  };
}

const content = () => TYPES[format()][1](exported());

function draw() {
  $("preview").textContent = content();
  $("address").disabled = format() === "csv";
  const { concepts } = exported();
  const some = concepts.length > 0;
  $("export-count").textContent = some ? count(concepts.length, "concept") : "No concept is chosen yet";
}

function open() {
  if (!desk.work) return;
  $("address").value = addressOf(desk.work.name, desk.work.id);
  draw();
  $("export-dialog").showModal();
}

function download() {
  const [type] = TYPES[format()];
  const address = URL.createObjectURL(new Blob([content()], { type: `${type};charset=utf-8` }));
  const name = (desk.work.name || desk.work.title)
    .replace(/[^\p{L}\p{N}.-]+/gu, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 60);
  h("a", { href: address, download: `${name || "document"}.${format()}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  desk.markExported();
  say("Downloaded");
}

/** Put text on the clipboard, also where the page is not served from a secure address. */
export async function copy(text, button) {
  const done = await copied(text);
  if (!done) trouble("copy", new Error("the browser does not let this page use the clipboard"), null);
  else flash(button);
  return done;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "unseen" });
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function flash(button) {
  const before = button.textContent;
  say("Copied");
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = before;
  }, 1500);
}

export function startExport() {
  $("export").addEventListener("click", open);
  for (const one of document.querySelectorAll("input[name=format]")) one.addEventListener("change", draw);
  $("undecided").addEventListener("change", draw);
  $("address").addEventListener("input", draw);
  $("download").addEventListener("click", download);
  $("copy-export").addEventListener("click", async (event) => {
    if (await copy(content(), event.target)) desk.markExported();
  });
  $("copy").addEventListener("click", (event) => {
    copy(desk.decisions.list("accepted").map((one) => `${one.id}\t${one.descriptor}\n`).join(""), event.target);
  });
}
