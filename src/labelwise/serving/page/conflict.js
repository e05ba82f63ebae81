/** Two people decided differently about one concept: whoever is here now says what holds. */

import { hooks, store } from "./acts.js";
import { $ } from "./dom.js";

const WORDS = { accepted: "accepted", rejected: "rejected" };

const word = (decision) => (decision ? `${WORDS[decision.state]} it` : "took it back");

function sentence(mine, theirs, by) {
  const name = (mine ?? theirs ?? by).descriptor;
  if (isMe(by)) return `“${name}”: you ${word(theirs)} in another tab, and ${word(mine)} here.`;
  return `“${name}”: ${by.who} ${word(theirs)} while you ${word(mine)}.`;
}

const isMe = ({ who }) => who === store.me.name;

export function startConflict() {
  hooks.choose = (mine, theirs, by) =>
    new Promise((done) => {
      $("conflict-what").textContent = sentence(mine, theirs, by);
      $("conflict-theirs").textContent = isMe(by) ? "Keep that of the other tab" : `Keep what ${by.who} decided`;
      $("conflict-mine").textContent = isMe(by) ? "Keep this one" : "Keep mine";
      $("conflict-dialog").returnValue = "";
      $("conflict-mine").onclick = () => $("conflict-dialog").close("mine");
      $("conflict-theirs").onclick = () => $("conflict-dialog").close("theirs");
      // Escape overwrites nothing.
      $("conflict-dialog").onclose = () => done($("conflict-dialog").returnValue || "theirs");
      $("conflict-dialog").showModal();
    });
}
