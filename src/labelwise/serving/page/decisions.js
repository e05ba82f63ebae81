/** What the indexer decides about concepts: accepted, rejected, added. */

import * as api from "./api.js";
import { count } from "./dom.js";
import { say, settled, trouble } from "./messages.js";

export class Decisions {
  #desk;
  #undo = []; // steps: [id, what was decided before] of each concept that a step changed

  constructor(desk) {
    this.#desk = desk;
  }

  clear() {
    this.#undo = [];
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
    this.#step([info], now);
    say(`${info.descriptor} ${now ?? "undecided"}`);
    return now;
  }

  acceptAll() {
    const open = this.#desk.above.filter((one) => !this.of(one.id));
    this.#step(open, "accepted");
    say(`${count(open.length, "concept")} accepted`);
  }

  #step(infos, state, how = "suggested") {
    this.#undo.push(infos.map((one) => [one.id, this.#all[one.id]]));
    for (const info of infos) {
      if (state) this.#all[info.id] = this.#made(info, state, how);
      else delete this.#all[info.id];
    }
    this.#desk.tell("decisions");
  }

  #made(info, state, how) {
    const { id, uri, descriptor, group, count, in_model, place, score = null, rank = null } = info;
    const before = this.#all[id];
    const last = Math.max(0, ...Object.values(this.#all).map((one) => one.order));
    return {
      id, uri, descriptor, group, count, in_model, place, score, rank, state,
      model: info.model ?? this.#desk.work.model,
      how: before?.how ?? how,
      order: before?.order ?? last + 1,
    };
  }

  get canUndo() {
    return this.#undo.length > 0;
  }

  undo() {
    const step = this.#undo.pop();
    if (!step) return;
    for (const [id, before] of step) {
      if (before) this.#all[id] = before;
      else delete this.#all[id];
    }
    this.#desk.tell("decisions");
    say(`Undone: ${count(step.length, "decision")}`);
  }

  /** A concept that the indexer found by its name: chosen at once, scored as soon as possible. */
  async add(info) {
    const known = this.#desk.work.predictions?.find((one) => one.id === info.id);
    this.#step([known ?? info], "accepted", "added");
    say(`${info.descriptor} added`);
    if (!known) await this.#score(info);
  }

  async #score(info) {
    const desk = this.#desk;
    const { work } = desk;
    try {
      const found = await this.#scoreOf(info);
      settled("score");
      if (work.decisions[info.id]) Object.assign(work.decisions[info.id], found);
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
