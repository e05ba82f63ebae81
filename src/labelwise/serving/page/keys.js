/** Single keys, for work all day. */

import { finish } from "./acts.js";
import { showCard } from "./card.js";
import { desk } from "./desk.js";
import { $ } from "./dom.js";
import { decideFocused, focusList, focusedInfo, lightRank } from "./suggestions.js";
import { nextEvidence, showTab } from "./text.js";

const press = (id) => () => $(id).click();

function focus(tab, id) {
  showTab(tab);
  $(id).focus();
}

const KEYS = {
  a: () => decideFocused("accepted"),
  r: () => decideFocused("rejected"),
  A: press("all"),
  u: () => desk.decisions.undo(),
  i: () => {
    const info = focusedInfo() ?? desk.work.predictions?.[0];
    if (info) showCard(info.id);
  },
  n: () => nextEvidence(1),
  p: () => nextEvidence(-1),
  l: () => {
    showTab("concepts");
    focusList();
  },
  "/": () => focus("concepts", "search"),
  t: () => focus("concepts", "threshold"),
  c: () => $("compare").focus(),
  e: press("export"),
  d: press("new"),
  f: () => desk.work.act && finish(),
  w: () => {
    if (desk.work.act) location.hash = "#/worklist";
  },
};

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const { target } = event;
  if (target.matches("input:not([type=range]), textarea, select")) return;
  if (event.key === "Escape") {
    desk.lights.putOut();
    return;
  }
  if (!desk.settings.singleKeys) return;
  if (event.key === "?") {
    event.preventDefault();
    $("help").click();
    return;
  }
  if (!desk.work) return;
  const act = /^[1-9]$/.test(event.key) ? () => lightRank(Number(event.key)) : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

export function startKeys() {
  addEventListener("keydown", key);
  $("single-keys").checked = desk.settings.singleKeys;
  $("single-keys").addEventListener("change", () => {
    desk.keepSettings({ singleKeys: $("single-keys").checked });
  });
}
