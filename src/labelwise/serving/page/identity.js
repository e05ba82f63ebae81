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
    const { work } = desk;
    // An act of the worklist is found by its id: it has one.
    desk.rename($("edit-title").value.trim() || work.title, given() || (work.act ? work.name : ""));
    $("edit-dialog").close();
    if (!work.act) say("Title and id changed");
  });
}
