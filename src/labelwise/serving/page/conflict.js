/** Two people decided differently about one concept: whoever is here now says what holds. */

import { hooks } from "./acts.js";
import { $ } from "./dom.js";

const WORDS = { accepted: "accepted", rejected: "rejected" };

function sentence(mine, theirs, by) {
  const name = (mine ?? theirs ?? by).descriptor;
  const theirWord = theirs ? `${WORDS[theirs.state]} it` : "took it back";
  const myWord = mine ? WORDS[mine.state] : "took it back";
  return `“${name}”: ${by.who} ${theirWord} while you ${myWord}${mine ? " it" : ""}.`;
}

export function startConflict() {
  hooks.choose = (mine, theirs, by) =>
    new Promise((done) => {
      $("conflict-what").textContent = sentence(mine, theirs, by);
      $("conflict-theirs").textContent = `Keep what ${by.who} decided`;
      $("conflict-dialog").returnValue = "";
      $("conflict-mine").onclick = () => $("conflict-dialog").close("mine");
      $("conflict-theirs").onclick = () => $("conflict-dialog").close("theirs");
      // Escape overwrites nothing.
      $("conflict-dialog").onclose = () => done($("conflict-dialog").returnValue || "theirs");
      $("conflict-dialog").showModal();
    });
}
