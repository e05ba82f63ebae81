/** What the page says: troubles with a way out, progress, and words for screen readers. */

import { Problem, Unreachable, hooks } from "./api.js";
import { $ } from "./dom.js";

const troubles = new Map(); // by what was tried: the error, and how to try again

/** Say something once, to those who listen. */
export function say(sentence) {
  $("said").textContent = "";
  // A region that is emptied and filled in one go would not be read twice.
  requestAnimationFrame(() => {
    $("said").textContent = sentence;
  });
}

/** Something failed; `again` tries it again. A stop that the user asked for is no trouble. */
export function trouble(what, error, again) {
  if (error.name === "AbortError") return;
  troubles.set(what, { error, again: helps(error) ? again : null });
  show();
}

/** Whether it may go better next time: what the service found wrong in a question stays wrong. */
function helps(error) {
  return !(error instanceof Problem) || error.status >= 500 || [401, 408].includes(error.status);
}

/** It worked, or is no longer wanted. */
export function settled(what) {
  if (troubles.delete(what)) show();
}

function show() {
  const all = [...troubles.values()];
  const open = all.length > 0;
  $("banner").hidden = !open;
  if (!open) return;
  const { error } = all[all.length - 1];
  $("trouble").textContent = sentence(error);
  $("retry").hidden = !all.some((one) => one.again);
}

/** An error in words for the user. */
export function sentence(error) {
  if (error instanceof Unreachable) {
    return `${error.message} Nothing is lost: your text and your decisions are here.`;
  }
  if (error instanceof Problem) {
    const text = error.message;
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
  }
  console.error(error);
  return `Something went wrong in this page: ${error.message}`;
}

/** Something that happened and asks for nothing; it stays until it is dismissed. */
export function notice(sentence) {
  $("noticed").hidden = !sentence;
  $("notice").textContent = sentence;
  say(sentence);
}

export function startMessages() {
  $("notice-dismiss").addEventListener("click", () => notice(""));
  $("retry").addEventListener("click", () => {
    const all = [...troubles.values()];
    troubles.clear();
    show();
    for (const { again } of all) again?.();
  });
  $("dismiss").addEventListener("click", () => {
    troubles.clear();
    show();
  });
  hooks.waiting = (sentence) => {
    waiting = sentence;
    draw();
  };
}

let running = null; // { text, done, steps }
let waiting = "";

/** Show how far something long is; null when it is over. */
export function progress(state) {
  running = state;
  draw();
}

function draw() {
  const text = [running?.text, waiting && `${waiting}, trying again`].filter(Boolean).join(" · ");
  $("progress").hidden = !text;
  $("stop").hidden = !running;
  $("doing").textContent = text;
  if (running?.steps) {
    $("meter").max = running.steps;
    $("meter").value = running.done;
  } else {
    $("meter").removeAttribute("value");
  }
}
