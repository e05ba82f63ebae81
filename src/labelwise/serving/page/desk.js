/** The state of the desk, and all that changes it. The views listen and draw.
 *
 * A *work* is one document with what was suggested for it and what was decided. It is plain data,
 * so that it can be kept as it is.
 */

import * as api from "./api.js";
import { unitsOf } from "./codepoints.js";
import { count, number } from "./dom.js";
import * as keep from "./keep.js";
import { progress, say, settled, trouble } from "./messages.js";

export const COLOURS = 8; // as many as palette.css has
const TOP = 50; // suggestions asked for; the threshold cuts them here, at once
const SECTION_TOP = 3;
const FAINT = 0.01; // scores of a section below this are not worth keeping
const STRONG = 1 / 3; // of the heaviest word: fainter ones are lit when all words are
const MOST_EVIDENCE = 64; // explanations in memory

const DEFAULTS = {
  model: null,
  thresholds: {}, // by model: scores of two models are not on one scale
  include: "",
  exclude: "",
  theme: "auto",
  allWords: false, // light faint words too
  singleKeys: true,
};

class Desk extends EventTarget {
  models = [];
  work = null;
  settings = keep.loadSettings(DEFAULTS);
  apart = false; // evidence read section by section
  tagging = false;
  stale = false; // the suggestions shown are not yet those that were asked for
  compared = null;
  fresh = []; // sections whose own labels came since the last frame
  many = null; // the documents of a file
  #evidence = new Map();
  #asked = new Set(); // evidence on its way
  #run = new AbortController(); // ends with the document
  #tagRun = new AbortController();
  #readRun = new AbortController();
  #undo = [];
  #saving = false;
  #unsaved = false;
  #loading = null;

  /** Call `draw` when one of these changes. */
  on(topics, draw) {
    for (const topic of topics.split(" ")) this.addEventListener(topic, () => draw(topic));
  }

  tell(...topics) {
    for (const topic of topics) this.dispatchEvent(new Event(topic));
    if (this.work && topics.some((one) => one !== "evidence" && one !== "progress")) this.#keepSoon();
  }

  // --- models ---------------------------------------------------------------------------------

  /** Asked once, however many wait for the answer. */
  loadModels() {
    this.#loading ??= this.#loadModels().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #loadModels() {
    try {
      const found = await api.get("v1/models");
      await api.learnLimits();
      this.models = found.models;
      this.settings.model = this.model(this.settings.model)?.id ?? found.default;
      settled("models");
      this.tell("models");
      this.#checkModel();
    } catch (error) {
      trouble("models", error, () => this.loadModels());
    }
  }

  /** A work may have been kept from a time when other models were loaded. */
  #checkModel() {
    const { work } = this;
    if (!work || !this.models.length || this.model(work.model)) return;
    Object.assign(work, { model: this.settings.model, other: null, predictions: null });
    this.tell("model");
    this.tag();
  }

  model(id) {
    return this.models.find((one) => one.id === id);
  }

  /** The model in use. */
  get current() {
    return this.model(this.work?.model ?? this.settings.model);
  }

  /** Whether some model can score concepts that none was trained on. */
  get zeroShot() {
    return this.models.some((one) => one.zero_shot);
  }

  useModel(id) {
    this.settings.model = id;
    this.keepSettings();
    if (!this.work || this.work.model === id) return;
    this.work.model = id;
    this.work.predictions = null;
    if (this.work.other === id) this.work.other = null;
    this.tell("model");
    this.tag();
  }

  compareWith(id) {
    this.work.other = id && id !== this.work.model ? id : null;
    this.compared = null;
    this.tell("compare");
    this.compare();
  }

  // --- settings -------------------------------------------------------------------------------

  keepSettings() {
    if (!keep.keepSettings(this.settings)) this.unkept("settings are not kept by this browser");
    this.tell("settings");
  }

  get threshold() {
    const own = this.current?.threshold ?? 0.5;
    return this.settings.thresholds[this.current?.id] ?? own;
  }

  set threshold(value) {
    if (value === null) delete this.settings.thresholds[this.current.id];
    else this.settings.thresholds[this.current.id] = value;
    this.keepSettings();
    this.tell("threshold");
  }

  useLists(include, exclude) {
    if (include === this.settings.include && exclude === this.settings.exclude) return;
    Object.assign(this.settings, { include, exclude });
    this.keepSettings();
    if (this.work) this.tag();
  }

  neverSuggest(info) {
    const line = `${info.id} ${info.descriptor}`;
    const before = this.settings.exclude.trimEnd();
    say(`${info.descriptor} will not be suggested again`);
    this.useLists(this.settings.include, before ? `${before}\n${line}` : line);
  }

  #lists() {
    return { include: ids(this.settings.include), exclude: ids(this.settings.exclude) };
  }

  // --- documents ------------------------------------------------------------------------------

  /** Text that was pasted, or a file; `many` where there are several documents to choose from. */
  async read(file, { text = false, name = file.name } = {}) {
    progress({ text: "Reading the document" });
    const run = (this.#readRun = new AbortController());
    try {
      const found = await api.parse(file, { text, name, signal: run.signal });
      settled("read");
      const whole = found.documents
        .map((one) => ({ ...one, sections: one.sections.filter((part) => part.text.trim()) }))
        .filter((one) => one.sections.length);
      if (!whole.length) throw new api.Problem(422, { detail: "there is no text to read" });
      if (whole.length === 1) {
        this.begin(whole[0], name);
      } else {
        this.many = { documents: whole, more: found.more, name };
        this.tell("many");
      }
    } catch (error) {
      trouble("read", error, () => this.read(file, { text, name }));
    } finally {
      if (!this.tagging) progress(null);
    }
  }

  /** Start to work on a document. */
  begin(document, source) {
    this.#leave();
    this.work = {
      id: crypto.getRandomValues(new Uint32Array(2)).join("-"),
      name: document.id,
      title: document.title.trim() || firstWords(document.sections[0].text),
      source: source ?? "",
      sections: document.sections,
      words: document.words,
      wordsRead: null,
      gold: document.labels,
      model: this.current?.id ?? null,
      other: null,
      predictions: null,
      notes: [],
      parts: {}, // by number of a section: its own scores and best labels
      decisions: {}, // by label
      lit: [],
    };
    keep.keepText(this.work).then(
      () => this.unkept(""),
      (error) => this.unkept(error.message),
    );
    history.pushState(null, "", `#${this.work.id}`);
    this.tell("document");
    this.tag();
  }

  /** Go on with a work that was kept. */
  async resume(id) {
    let work = null;
    try {
      work = await keep.load(id);
    } catch (error) {
      this.unkept(error.message);
    }
    if (!work) return false;
    this.#leave();
    this.work = work;
    this.tell("document", "predictions", "decisions", "lit", "compare");
    this.#checkModel();
    if (!this.tagging && (!work.predictions || !work.complete)) this.tag();
    this.fetchEvidence();
    this.compare();
    return true;
  }

  close() {
    this.#leave();
    this.work = null;
    this.tell("document");
  }

  #leave() {
    this.#run.abort();
    this.#run = new AbortController();
    this.#tagRun.abort();
    this.#evidence.clear();
    this.#asked.clear();
    this.#undo = [];
    this.compared = null;
    this.apart = false;
    for (const what of ["read", "tag", "evidence", "compare", "score"]) settled(what);
    this.saveNow();
  }

  // --- suggestions ----------------------------------------------------------------------------

  #document() {
    return { sections: this.work.sections, title: this.work.title.slice(0, 20_000) };
  }

  /** The whole document first, then each section on its own. */
  async tag() {
    const work = this.work;
    if (!this.models.length) await this.loadModels();
    if (!this.models.length || this.work !== work) return;
    work.model ??= this.settings.model;
    this.#tagRun.abort();
    const run = (this.#tagRun = new AbortController());
    this.tagging = this.stale = true;
    work.complete = false;
    work.parts = {};
    progress({ text: `Reading ${count(work.words, "word")}` });
    this.tell("progress");
    try {
      const asked = { ...this.#document(), ...this.#lists(), model: work.model, top: TOP };
      asked.section_top = work.sections.length > 1 ? SECTION_TOP : 0;
      for await (const event of api.stream("v1/tag/stream", asked, run.signal)) {
        if (run.signal.aborted) return;
        if (event.event === "document") this.#tagged(work, event.tagging);
        if (event.event === "section") this.#part(work, event);
      }
      work.complete = true;
      settled("tag");
    } catch (error) {
      if (this.#tagRun === run) trouble("tag", error, () => this.tag());
    } finally {
      if (this.#tagRun === run) {
        this.tagging = this.stale = false;
        progress(null);
        this.tell("progress");
      }
    }
    if (work.other && !this.compared) this.compare();
  }

  stop() {
    this.#readRun.abort();
    this.#tagRun.abort();
    say("Stopped");
  }

  #tagged(work, found) {
    settled("tag");
    this.stale = false;
    work.predictions = found.predictions;
    work.notes = found.notes;
    work.words = found.words;
    work.wordsRead = found.words_read;
    for (const one of found.predictions) {
      const decision = work.decisions[one.id];
      if (decision) Object.assign(decision, { score: one.score, model: work.model, rank: one.rank });
    }
    this.tell("predictions", "decisions");
    const above = this.above.length;
    say(above ? `${count(above, "suggestion")} above the threshold` : "No suggestion is above the threshold");
  }

  #part(work, event) {
    const scores = Object.entries(event.scores).filter(([, score]) => score >= FAINT);
    work.parts[event.section] = {
      scores: Object.fromEntries(scores),
      best: event.predictions.filter((one) => one.assigned).map(({ id, descriptor, score }) => ({ id, descriptor, score })),
    };
    this.fresh.push(event.section);
    if (this.fresh.length > 1) return; // drawn with the others of this frame
    requestAnimationFrame(() => this.#drawFresh(work, event.steps - 1));
  }

  #drawFresh(work, total) {
    const read = this.fresh.at(-1) + 1;
    if (this.work === work) this.dispatchEvent(new Event("parts"));
    this.fresh = [];
    if (this.work !== work || !this.tagging || total < 2) return;
    progress({ text: `Section ${number(read)} of ${number(total)}`, done: read, steps: total });
  }

  get above() {
    return (this.work?.predictions ?? []).filter((one) => one.score > this.threshold);
  }

  async compare() {
    const work = this.work;
    if (!work?.other || !this.model(work.other)) return;
    try {
      const found = await api.post(
        "v1/compare",
        { ...this.#document(), ...this.#lists(), models: [work.model, work.other] },
        this.#run.signal,
      );
      if (this.work !== work || found.models[1] !== work.other) return;
      settled("compare");
      this.compared = found;
      this.tell("compare");
    } catch (error) {
      trouble("compare", error, () => this.compare());
    }
  }

  // --- decisions ------------------------------------------------------------------------------

  decision(id) {
    return this.work?.decisions[id]?.state ?? null;
  }

  /** Accept or reject; the same again takes it back. */
  decide(info, state) {
    const now = this.decision(info.id) === state ? null : state;
    this.#set(info, now);
    say(`${info.descriptor} ${now ?? "undecided"}`);
    return now;
  }

  #set(info, state, how = "suggested") {
    const { decisions } = this.work;
    this.#undo.push([info.id, decisions[info.id]]);
    if (state) {
      const before = decisions[info.id];
      const order = before?.order ?? 1 + Math.max(0, ...Object.values(decisions).map((one) => one.order));
      decisions[info.id] = { ...kept(info), model: info.model ?? this.work.model, how: before?.how ?? how, state, order };
    } else {
      delete decisions[info.id];
    }
    this.tell("decisions");
  }

  /** The decisions of this kind, in the order in which they were made. */
  decided(state) {
    return Object.values(this.work?.decisions ?? {})
      .filter((one) => one.state === state)
      .sort((a, b) => a.order - b.order);
  }

  acceptAll() {
    const open = this.above.filter((one) => !this.decision(one.id));
    for (const one of open) this.#set(one, "accepted");
    say(`${count(open.length, "concept")} accepted`);
  }

  get canUndo() {
    return this.#undo.length > 0;
  }

  undo() {
    const last = this.#undo.pop();
    if (!last) return;
    const [id, before] = last;
    const name = (before ?? this.work.decisions[id])?.descriptor ?? id;
    if (before) this.work.decisions[id] = before;
    else delete this.work.decisions[id];
    this.tell("decisions");
    say(`Undone: ${name} ${before?.state ?? "undecided"}`);
  }

  /** A concept that the indexer found by its name: chosen at once, scored as soon as possible. */
  async add(info) {
    const known = this.work.predictions?.find((one) => one.id === info.id);
    this.#set(known ?? { ...info, score: null }, "accepted", "added");
    say(`${info.descriptor} added`);
    if (!known) await this.#score(info);
  }

  /** A label that was trained is scored by the model in use, any other by a zero-shot model. */
  async #score(info) {
    const work = this.work;
    const trained = info.in_model && info.group !== "zero";
    if (!trained && !this.zeroShot && !info.in_model) return;
    try {
      let score;
      let { model } = work;
      if (trained || !this.zeroShot) {
        const asked = { ...this.#document(), model, include: [info.id], top: 1 };
        const found = await api.post("v1/tag", asked, this.#run.signal);
        score = found.predictions[0]?.score ?? null;
      } else {
        const concepts = [{ id: info.id, descriptor: info.descriptor }];
        const found = await api.post("v1/score", { ...this.#document(), concepts }, this.#run.signal);
        score = found.scores[0].score;
        model = found.model; // the service knows which of its models is best at this
      }
      settled("score");
      if (work.decisions[info.id]) Object.assign(work.decisions[info.id], { score, model });
      this.tell("decisions");
    } catch (error) {
      trouble("score", error, error instanceof api.Unreachable ? () => this.#score(info) : null);
    }
  }

  // --- evidence -------------------------------------------------------------------------------

  lit(label, model = this.work?.model) {
    return this.work?.lit.find((one) => one.label === label && one.model === model);
  }

  /** Light the words that speak for a label, or put them out. */
  light(info, model = info.model ?? this.work.model) {
    const { lit } = this.work;
    const there = this.lit(info.id, model);
    if (there) {
      lit.splice(lit.indexOf(there), 1);
      say(`${info.descriptor} put out`);
    } else if (info.in_model === false && !this.model(model)?.zero_shot) {
      const detail = `no model here knows “${info.descriptor}”: a zero-shot model could explain it`;
      trouble("evidence", new api.Problem(422, { detail }), null);
      return;
    } else {
      if (lit.length === COLOURS) lit.shift();
      const taken = lit.map((one) => one.colour);
      const colour = [...Array(COLOURS).keys()].map((n) => n + 1).find((n) => !taken.includes(n));
      lit.push({ label: info.id, descriptor: info.descriptor, model, colour, unseen: info.in_model === false });
      this.fetchEvidence();
    }
    this.tell("lit");
  }

  unlight() {
    if (!this.work?.lit.length) return;
    this.work.lit = [];
    this.tell("lit");
    say("All lights are out");
  }

  readApart(apart) {
    this.apart = apart;
    this.tell("lit");
    this.fetchEvidence();
  }

  /** The evidence of a lit label; undefined while it is on its way. */
  evidenceOf(one) {
    return this.#evidence.get(`${one.model}\n${one.label}\n${this.apart}`);
  }

  /** The weight of full colour. Read apart, the weights of a section are shares of its own. */
  strongest(evidence, part) {
    return this.apart ? Math.max(0, ...part.spans.map((one) => Math.abs(one.weight))) : evidence.strongest;
  }

  /** The stretches of a section that are to be lit: the strong ones, unless all are wanted. */
  shownSpans(evidence, part) {
    if (this.settings.allWords) return part.spans;
    const least = STRONG * this.strongest(evidence, part);
    return part.spans.filter((one) => Math.abs(one.weight) >= least);
  }

  lightAllWords(all) {
    this.settings.allWords = all;
    this.keepSettings();
    this.tell("lit");
  }

  /** Whether it is on its way. */
  awaits(one) {
    return this.#asked.has(`${one.model}\n${one.label}\n${this.apart}`);
  }

  /** Ask for what is lit and not here yet. */
  async fetchEvidence() {
    const missing = new Map(); // by model
    for (const one of this.work.lit) {
      const key = `${one.model}\n${one.label}\n${this.apart}`;
      if (this.#evidence.has(key) || this.#asked.has(key)) continue;
      this.#asked.add(key);
      missing.set(one.model, [...(missing.get(one.model) ?? []), one]);
    }
    await Promise.all([...missing].map(([model, some]) => this.#explain(model, some)));
  }

  async #explain(model, some) {
    const { work, apart } = this;
    try {
      const labels = some.filter((one) => !one.unseen).map((one) => one.label);
      const concepts = some.filter((one) => one.unseen).map((one) => ({ id: one.label, descriptor: one.descriptor }));
      const asked = { ...this.#document(), model, labels, concepts, by_section: apart };
      for await (const event of api.stream("v1/evidence/stream", asked, this.#run.signal)) {
        if (event.event !== "evidence") continue;
        this.#evidence.set(`${model}\n${event.evidence.label}\n${apart}`, inUnits(work, event.evidence));
        this.#forgetSome();
        const { descriptor, sections } = event.evidence;
        const places = sections.reduce((sum, one) => sum + this.shownSpans(event.evidence, one).length, 0);
        say(`${descriptor}: ${count(places, "place")} lit in ${count(sections.length, "section")}`);
        this.tell("evidence");
      }
      settled("evidence");
    } catch (error) {
      trouble("evidence", error, () => this.fetchEvidence());
    } finally {
      for (const { label } of some) this.#asked.delete(`${model}\n${label}\n${apart}`);
      this.tell("evidence");
    }
  }

  #forgetSome() {
    for (const key of this.#evidence.keys()) {
      if (this.#evidence.size <= MOST_EVIDENCE) return;
      const [model, label] = key.split("\n");
      if (!this.lit(label, model)) this.#evidence.delete(key);
    }
  }

  // --- keeping --------------------------------------------------------------------------------

  /** At once, so that a reload finds everything; what changes meanwhile is written after it. */
  #keepSoon() {
    this.#unsaved = true;
    if (!this.#saving) this.saveNow();
  }

  async saveNow() {
    const { work } = this;
    if (!work || !this.#unsaved) return;
    this.#unsaved = false;
    this.#saving = true;
    await Promise.resolve(); // all that changes in this step is written in one go
    try {
      await keep.keepWork(work);
    } catch (error) {
      this.unkept(error.message);
    }
    this.#saving = false;
    this.saveNow();
  }

  unkept(reason) {
    this.reason = reason;
    this.dispatchEvent(new Event("keeping"));
  }
}

/** The ids of a list: one a line, with words after it, or several with commas between.
 *
 * ids("693 citrus fruit\n1309, 20") is ["693", "1309", "20"].
 */
export function ids(list) {
  const found = list.split("\n").flatMap((line) => {
    const parts = line.split(",").map((part) => part.trim());
    return parts.some((part) => /\s/.test(part)) ? [line.trim().split(/[\s,]+/)[0]] : parts;
  });
  return [...new Set(found.filter(Boolean))];
}

/** What is kept of a label in a decision. */
function kept({ id, uri, descriptor, group, count, in_model, place, score, rank }) {
  return { id, uri, descriptor, group, count, in_model, place, score: score ?? null, rank: rank ?? null };
}

const firstWords = (text) => text.trim().split("\n")[0].slice(0, 120);

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

export const desk = new Desk();
