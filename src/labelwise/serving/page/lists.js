/** The include and exclude lists. */

import { desk, ids } from "./desk.js";
import { $, number } from "./dom.js";

const MOST = 20_000; // ids that the service takes in a list
const MOST_BYTES = 2_000_000;

function open() {
  $("include").value = desk.settings.include;
  $("exclude").value = desk.settings.exclude;
  $("lists-problem").textContent = "";
  $("lists-dialog").showModal();
}

function save() {
  const [include, exclude] = [$("include").value, $("exclude").value];
  const longest = Math.max(ids(include).length, ids(exclude).length);
  if (longest > MOST) {
    $("lists-problem").textContent = `A list may hold ${number(MOST)} ids; this one has ${number(longest)}.`;
    return;
  }
  if (ids(include).concat(ids(exclude)).some((id) => id.length > 500)) {
    $("lists-problem").textContent = "An id has at most 500 characters.";
    return;
  }
  $("lists-dialog").close();
  desk.useLists(include, exclude);
}

async function fill(area, input) {
  const [file] = input.files;
  input.value = "";
  if (!file) return;
  if (file.size > MOST_BYTES) {
    $("lists-problem").textContent = `${file.name} is too large for a list of ids.`;
    return;
  }
  area.value = (await file.text()).replaceAll("\r", "");
}

export function startLists() {
  $("lists").addEventListener("click", open);
  $("lists-save").addEventListener("click", save);
  for (const name of ["include", "exclude"]) {
    $(`${name}-file`).addEventListener("change", () => fill($(name), $(`${name}-file`)));
  }
}
