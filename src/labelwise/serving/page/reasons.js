/** Why a concept is suggested, in a line: the words that weigh most, and the zones they stand in. */

import { desk } from "./desk.js";

const WORDS = 4;
const ZONES = {
  header: "the header",
  recitals: "the recitals",
  article: "the articles",
  attachments: "the annexes",
};

/** "Because of: citrus, oranges · in the recitals 58 %, the articles 31 %"; empty where not known. */
export function because(info) {
  const evidence = desk.lights.whole(info.id);
  const words = evidence ? strongest(evidence.phrases) : [];
  if (!words.length) return "";
  const zones = zonesOf(evidence, desk.work.sections);
  return `Because of: ${words.join(", ")}${zones.length > 1 ? ` · in ${zones.slice(0, 2).join(", ")}` : ""}`;
}

/** The heaviest words that speak for it; of "import" and "imports of" one is enough. */
export function strongest(phrases) {
  const found = [];
  for (const { text, weight } of phrases) {
    const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu); // a bracket alone is none
    if (weight <= 0 || !words) continue;
    const known = found.some((one) => within(one.words, words) || within(words, one.words));
    if (!known) found.push({ words, shown: text.trim().toLowerCase() });
  }
  return found.slice(0, WORDS).map((one) => one.shown);
}

/** Whether all words of one are among those of another: whole ones, since "on" is no part of "onion". */
const within = (some, all) => some.every((one) => all.some((other) => alike(one, other)));

/** The same word, or the same with an ending such as that of the plural; the command has the same rule. */
const alike = (a, b) => {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return a === b || (short.length > 3 && long.length - short.length < 3 && long.startsWith(short));
};

/** The share of the evidence in each zone, the largest first. */
function zonesOf(evidence, sections) {
  const shares = new Map();
  for (const part of evidence.sections) {
    const { kind } = sections[part.section];
    shares.set(kind, (shares.get(kind) ?? 0) + part.weight);
  }
  const total = [...shares.values()].reduce((sum, one) => sum + one, 0);
  return [...shares]
    .sort((a, b) => b[1] - a[1])
    .map(([kind, weight]) => `${ZONES[kind]} ${Math.round((100 * weight) / total)} %`);
}
