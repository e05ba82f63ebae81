/** The card of a concept: what the thesaurus knows of it, and acts that have it. */

import { addressOf, store } from "./acts.js";
import * as api from "./api.js";
import { desk } from "./desk.js";
import { $, h } from "./dom.js";
import { settled, trouble } from "./messages.js";

const languages = new Intl.DisplayNames("en", { type: "language" });

/** Open the card of a concept, or turn to it from another card. */
export async function showCard(id) {
  const query = new URLSearchParams(desk.named);
  if (desk.work?.model) query.set("model", desk.work.model);
  try {
    const card = api.get(`v1/labels/${encodeURIComponent(id)}?${query}`);
    draw(...(await Promise.all([card, examplesOf(id)])));
    settled("card");
    if (!$("card-dialog").open) $("card-dialog").showModal();
    $("card-name").focus();
  } catch (error) {
    trouble("card", error, () => showCard(id));
  }
}

/** Acts of the worklist for which the concept was chosen, besides the one at work. */
async function examplesOf(id) {
  if (!store.on) return [];
  const query = new URLSearchParams({ besides: desk.work?.act?.id ?? "" });
  return (await api.get(`v1/desk/concepts/${encodeURIComponent(id)}/acts?${query}`)).acts;
}

function draw(card, examples) {
  const names = Object.entries(card.names).map(([code, name]) => `${name} (${languages.of(code)})`);
  $("card-name").textContent = card.descriptor;
  $("card").replaceChildren(
    ...part("Id", card.id),
    ...part("Place", card.place.path),
    ...part("Meaning", ...card.notes),
    ...part("Also", ...card.alternatives),
    ...part("In other languages", ...names),
    ...part("Broader", ...card.place.broader.map(link)),
    ...part("Narrower", ...card.narrower.map(link)),
    ...part("Related", ...card.related.map(link)),
    ...part("Chosen for", ...examples.map(example)),
    ...part("Training documents", card.in_model ? String(card.count) : "not in the model"),
  );
}

const link = ({ id, name }) =>
  h("button", { type: "button", class: "plain", onclick: () => showCard(id) }, name);

const example = ({ id, title }) =>
  h("a", { href: addressOf(id), onclick: () => $("card-dialog").close() }, `${id} ${title}`);

function part(name, ...values) {
  if (!values.length) return [];
  return [h("div", {}, h("dt", {}, name), ...values.map((one) => h("dd", {}, one)))];
}
