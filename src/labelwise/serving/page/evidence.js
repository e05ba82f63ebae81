/** Which concepts are lit, and the words that speak for them.
 *
 * A light is {label, descriptor, model, colour, unseen}: one concept as one model sees it. Lights
 * are kept with the work; the evidence is asked for again.
 */

import * as api from "./api.js";
import { unitsOf } from "./codepoints.js";
import { count } from "./dom.js";
import { say, settled, trouble } from "./messages.js";

const COLOURS = [1, 2, 3, 4, 5, 6, 7, 8]; // as palette.css has them
const MOST_EXPLAINED = 50; // labels of a request
const STRONG = 1 / 3; // of the heaviest word: fainter ones are lit when all words are
const MOST = 200; // explanations in memory

export class Lights {
  apart = false; // every section is read on its own
  #desk;
  #found = new Map();
  #asked = new Set();
  #wondered = new Set(); // labels whose reasons are on their way, or could not be had

  constructor(desk) {
    this.#desk = desk;
  }

  clear() {
    this.apart = false;
    this.#found = new Map();
    this.#asked = new Set();
    this.#wondered = new Set();
  }

  get all() {
    return this.#desk.work?.lit ?? [];
  }

  /** The light of a label, if it is lit. */
  lit(label, model = this.#desk.work?.model) {
    return this.all.find((one) => one.label === label && one.model === model);
  }

  /** Light the words that speak for a label, or put them out. */
  toggle(info, model = info.model ?? this.#desk.work.model) {
    const there = this.lit(info.id, model);
    const unseen = info.in_model === false;
    if (there) {
      this.all.splice(this.all.indexOf(there), 1);
      say(`${info.descriptor} put out`);
    } else if (unseen && !this.#desk.model(model)?.zero_shot) {
      const detail = `no model here knows “${info.descriptor}”: a zero-shot model could explain it`;
      trouble("evidence", new api.Problem(422, { detail }), null);
      return;
    } else {
      if (this.all.length === COLOURS.length) this.all.shift();
      const colour = COLOURS.find((n) => !this.all.some((one) => one.colour === n));
      const light = { label: info.id, descriptor: info.descriptor, model, colour, unseen };
      this.all.push(light);
      if (this.of(light)) this.#tellOf(light, this.of(light));
      else this.fetch();
    }
    this.#desk.tell("lit");
  }

  putOut() {
    if (!this.all.length) return;
    this.#desk.work.lit = [];
    this.#desk.tell("lit");
    say("All lights are out");
  }

  readApart(apart) {
    this.apart = apart;
    this.fetch();
    this.#desk.tell("lit");
  }

  useAllWords(all) {
    this.#desk.keepSettings({ allWords: all });
    this.#desk.tell("lit");
  }

  // --- what is known --------------------------------------------------------------------------

  #key(one, apart = this.apart) {
    return `${one.model}\n${one.label}\n${apart}`;
  }

  /** The evidence of a label in the act as a whole, by the model in use; undefined while unknown. */
  whole(label) {
    return this.#found.get(this.#key({ label, model: this.#desk.work?.model }, false));
  }

  /** The evidence of a light; undefined while it is not here. */
  of(one) {
    return this.#found.get(this.#key(one));
  }

  /** Whether it is on its way. */
  awaits(one) {
    return this.#asked.has(this.#key(one));
  }

  /** The weight of full colour. Read apart, the weights of a section are shares of its own. */
  strongest(evidence, part) {
    if (!this.apart) return evidence.strongest;
    return Math.max(0, ...part.spans.map((one) => Math.abs(one.weight)));
  }

  /** The stretches of a section that are to be lit: the strong ones, unless all are wanted. */
  shown(evidence, part) {
    if (this.#desk.settings.allWords) return part.spans;
    const least = STRONG * this.strongest(evidence, part);
    return part.spans.filter((one) => Math.abs(one.weight) >= least);
  }

  // --- asking ---------------------------------------------------------------------------------

  /** Ask for what is lit and not here yet. */
  async fetch() {
    const missing = this.all.filter((one) => !this.of(one) && !this.awaits(one));
    for (const one of missing) this.#asked.add(this.#key(one));
    const models = [...new Set(missing.map((one) => one.model))];
    await Promise.all(
      models.map((model) => this.#light(model, missing.filter((one) => one.model === model))),
    );
  }

  /** Ask why labels are suggested, all in one request; a concept that is lit later has its words. */
  async because(labels) {
    const { model } = this.#desk.work;
    const missing = labels
      .map((label) => ({ label, model }))
      .filter((one) => !this.whole(one.label) && !this.#wondered.has(this.#key(one, false)))
      .slice(0, MOST_EXPLAINED);
    if (!missing.length) return;
    const keys = missing.map((one) => this.#key(one, false));
    for (const key of keys) this.#wondered.add(key);
    try {
      for await (const _ of this.#explained(model, missing, false)) this.#desk.tell("reasons");
    } catch (error) {
      // A suggestion stands without its reasons; who lights it asks again, and is told why not.
      if (error instanceof api.Unreachable) for (const key of keys) this.#wondered.delete(key);
    }
  }

  /** The evidence of these labels, each as soon as it is here. */
  async *#explained(model, lights, apart) {
    const desk = this.#desk;
    const { work } = desk;
    const found = this.#found;
    const question = {
      ...desk.document(),
      model,
      labels: lights.filter((one) => !one.unseen).map((one) => one.label),
      concepts: lights.filter((one) => one.unseen).map(unseenConcept),
      by_section: apart,
    };
    for await (const event of api.stream("v1/evidence/stream", question, desk.signal)) {
      if (desk.work !== work) return; // these offsets belong to another document
      if (event.event !== "evidence") continue;
      const { evidence } = event;
      found.set(this.#key({ model, label: evidence.id }, apart), inUnits(work, evidence));
      this.#forgetSome();
      yield evidence;
    }
  }

  async #light(model, lights) {
    const desk = this.#desk;
    const [asked, keys] = [this.#asked, lights.map((one) => this.#key(one))];
    try {
      for await (const evidence of this.#explained(model, lights, this.apart)) {
        this.#tellOf(lights.find((one) => one.label === evidence.id), evidence);
      }
      settled("evidence");
    } catch (error) {
      trouble("evidence", error, () => this.fetch());
    } finally {
      for (const key of keys) asked.delete(key);
      desk.tell("evidence");
    }
  }

  /** By the name that the page shows, which may be in another language than that of the evidence. */
  #tellOf({ descriptor }, evidence) {
    const places = evidence.sections.map((part) => this.shown(evidence, part).length);
    const sum = places.reduce((a, b) => a + b, 0);
    const sections = count(places.filter(Boolean).length, "section");
    say(`${descriptor}: ${count(sum, "place")} lit in ${sections}`);
    this.#desk.tell("evidence");
  }

  #forgetSome() {
    for (const key of this.#found.keys()) {
      if (this.#found.size <= MOST) return;
      const [model, label] = key.split("\n");
      if (!this.lit(label, model)) this.#found.delete(key);
    }
  }
}

const unseenConcept = ({ label, descriptor }) => ({ id: label, descriptor });

/** Evidence with offsets as JavaScript counts them. */
function inUnits(work, evidence) {
  for (const part of evidence.sections) {
    const units = unitsOf(work.sections[part.section].text);
    for (const span of part.spans) {
      span.start = units(span.start);
      span.end = units(span.end);
    }
  }
  return evidence;
}
