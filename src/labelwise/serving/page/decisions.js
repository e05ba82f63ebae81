/** What the indexer decides about concepts: accepted, rejected, added.
 *
 * A decision holds the score, the rank and the model of the moment in which it was made. Every
 * change is a function of what all tabs share of a work (see keep.js), applied here at once and to
 * what is stored afterwards.
 */

import * as api from "./api.js";
import { count } from "./dom.js";
import { say, settled, trouble } from "./messages.js";

const MOST_STEPS = 200; // that can be undone

export class Decisions {
  #desk;

  constructor(desk) {
    this.#desk = desk;
  }

  get #all() {
    return this.#desk.work?.decisions ?? {};
  }

  /** "accepted", "rejected" or null. */
  of(id) {
    return this.#all[id]?.state ?? null;
  }

  /** The decisions of this kind, in the order in which they were made. */
  list(state) {
    return Object.values(this.#all)
      .filter((one) => one.state === state)
      .sort((a, b) => a.order - b.order);
  }

  /** Accept or reject; the same again takes it back. */
  decide(info, state) {
    const now = this.of(info.id) === state ? null : state;
    this.#step(`${info.descriptor} ${now ?? "undecided"}`, [info], now);
    return now;
  }

  acceptAll() {
    const open = this.#desk.above.filter((one) => !this.of(one.id));
    this.#step(`${count(open.length, "concept")} accepted`, open, "accepted");
  }

  #step(what, infos, state, how = "suggested") {
    const step = { key: crypto.getRandomValues(new Uint32Array(2)).join("-"), what };
    const at = Date.now();
    const made = infos.map((info) => ({ ...shownOf(info), model: info.model ?? this.#desk.work.model }));
    this.#desk.change((work) => {
      const before = made.map(({ id }) => [id, work.decisions[id] ?? null]);
      pushStep(work, { ...step, before }, at);
      for (const one of made) {
        if (state) work.decisions[one.id] = { ...one, state, at, ...kept(work, one.id, how) };
        else delete work.decisions[one.id];
      }
    }, "decisions");
    say(what);
  }

  /** A concept that is never to be suggested: a step like any other, so that undo takes it back. */
  excluded(info) {
    const key = crypto.getRandomValues(new Uint32Array(2)).join("-");
    const step = { key, what: `${info.descriptor} never suggested`, before: [], never: info.id };
    this.#desk.change((work) => pushStep(work, step, work.decided), "decisions");
  }

  /** The step that undo would take back. */
  get last() {
    return this.#desk.work?.undo.at(-1) ?? null;
  }

  undo() {
    const step = this.last;
    if (!step) return;
    const at = Date.now();
    this.#desk.change((work) => {
      const place = work.undo.findIndex((one) => one.key === step.key);
      if (place < 0) return; // another tab took it back
      const [found] = work.undo.splice(place, 1);
      for (const [id, before] of found.before) {
        if (before) work.decisions[id] = before;
        else delete work.decisions[id];
      }
      if (found.before.length) work.decided = at;
    }, "decisions");
    if (step.never) this.#desk.suggestAgain(step.never);
    say(`Undone: ${step.what}`);
  }

  /** A concept that the indexer found by its name: chosen at once, scored as soon as possible. One
   * that stands in the list was suggested, however it was found. */
  async add(info) {
    const known = this.#desk.work.predictions?.find((one) => one.id === info.id);
    this.#step(`${info.descriptor} added`, [known ?? info], "accepted", known ? "suggested" : "added");
    const byStore = this.#desk.work.act && info.in_model; // it writes the score into its log
    if (!known && !byStore) await this.#score(info);
  }

  async #score(info) {
    const desk = this.#desk;
    const { work } = desk;
    try {
      const found = await this.#scoreOf(info);
      settled("score");
      desk.changeOf(work, ({ decisions }) => {
        if (decisions[info.id]?.score === null) Object.assign(decisions[info.id], found);
      });
      if (desk.work === work) desk.tell("decisions");
    } catch (error) {
      trouble("score", error, () => this.#score(info));
    }
  }

  /** A label that was trained is scored by the model in use, any other by a zero-shot model. */
  async #scoreOf(info) {
    const desk = this.#desk;
    const document = desk.document();
    const { model } = desk.work;
    if (desk.zeroShot && (!info.in_model || info.group === "zero")) {
      const concepts = [{ id: info.id, descriptor: info.descriptor }];
      // The service knows which of its models is best at this.
      const found = await api.post("v1/score", { ...document, concepts }, desk.signal);
      return { score: found.scores[0].score, model: found.model };
    }
    if (!info.in_model) return { score: null, model };
    const asked = { ...document, model, include: [info.id], top: 1 };
    const found = await api.post("v1/tag", asked, desk.signal);
    return { score: found.predictions[0]?.score ?? null, model };
  }
}

/** What a decision keeps of a concept. */
function shownOf({ id, uri, descriptor, group, count, in_model, place, score = null, rank = null }) {
  return { id, uri, descriptor, group, count, in_model, place, score, rank };
}

/** A concept keeps its place among the chosen, and how it came there. */
function kept({ decisions }, id, how) {
  const last = Math.max(0, ...Object.values(decisions).map((one) => one.order));
  return { how: decisions[id]?.how ?? how, order: decisions[id]?.order ?? last + 1 };
}

function pushStep(work, step, decided) {
  work.undo.push(step);
  work.undo.splice(0, work.undo.length - MOST_STEPS);
  work.decided = decided;
}
