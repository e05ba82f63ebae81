/** The title of the document, and the id under which it is exported. */

import { desk } from "./desk.js";
import { $ } from "./dom.js";
import { addressOf } from "./formats.js";
import { say } from "./messages.js";

const given = () => $("edit-id").value.trim();

function drawAddress() {
  $("edit-address").textContent = `It is exported as ${addressOf(given(), desk.work.id)}`;
}

function open() {
  $("edit-title").value = desk.work.title;
  $("edit-id").value = desk.work.name;
  drawAddress();
  $("edit-dialog").showModal();
}

export function startIdentity() {
  $("edit").addEventListener("click", open);
  $("edit-id").addEventListener("input", drawAddress);
  $("edit-form").addEventListener("submit", (event) => {
    event.preventDefault();
    desk.rename($("edit-title").value.trim() || desk.work.title, given());
    $("edit-dialog").close();
    say("Title and id changed");
  });
}
