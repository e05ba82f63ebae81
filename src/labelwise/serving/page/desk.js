/** The state of the desk, and all that changes it. The views listen and draw.
 *
 * A *work* is one document with what was suggested for it and what was decided. It is plain data,
 * so that it can be kept as it is.
 */

import * as acts from "./acts.js";
import * as api from "./api.js";
import { passed } from "./cut.js";
import { Decisions } from "./decisions.js";
import { count, number } from "./dom.js";
import { Lights } from "./evidence.js";
import * as keep from "./keep.js";
import { notice, progress, say, settled, trouble } from "./messages.js";

const TOP = 50; // suggestions asked for; the threshold cuts them here, at once
const SECTION_TOP = 3;
const NONE = {
  threshold: "No suggestion is above the threshold",
  best: "No suggestion",
  precision: "No suggestion promises this precision",
};
const FAINT = 0.01; // scores of a section below this are not worth keeping

const DEFAULTS = {
  model: null,
  by: "threshold", // how suggestions are cut: also "best" or "precision"
  best: 5,
  precision: 0.8,
  thresholds: {}, // by model: scores of two models are not on one scale
  include: "",
  exclude: "",
  theme: "auto",
  allWords: false, // light faint words too
  singleKeys: true,
  labels: "", // the language of names; the model's own where it is empty
};

class Desk extends EventTarget {
  models = [];
  work = null;
  settings = keep.loadSettings(DEFAULTS);
  decisions = new Decisions(this);
  lights = new Lights(this);
  tagging = false;
  stale = false; // the suggestions shown are not yet those that were asked for
  compared = null;
  fresh = []; // sections whose own labels came since the last frame
  many = null; // the documents of a file
  #run = new AbortController();
  #tagRun = new AbortController();
  #readRun = new AbortController();
  #saving = false;
  #unsaved = false;
  #storing = Promise.resolve(); // the text of a new document
  #changes = new WeakMap(); // by work: what was decided and is not stored yet
  #stored = new Map(); // works with such changes: what all tabs shared of them before
  #loading = null;

  /** Call `draw` when one of these changes. */
  on(topics, draw) {
    for (const topic of topics.split(" ")) this.addEventListener(topic, () => draw(topic));
  }

  tell(...topics) {
    for (const topic of topics) this.dispatchEvent(new Event(topic));
    const passing = ["evidence", "reasons", "progress", "many"]; // nothing of it is kept
    if (this.work && topics.some((one) => !passing.includes(one))) this.#keepSoon();
  }

  /** Change what all tabs share of the work. */
  change(change, ...topics) {
    this.changeOf(this.work, change);
    this.tell(...topics);
  }

  changeOf(work, change) {
    if (work.act) return change(work); // the service keeps it (acts.js)
    if (!this.#stored.has(work)) this.#stored.set(work, structuredClone(keep.shared(work)));
    change(work);
    this.#changes.set(work, [...(this.#changes.get(work) ?? []), change]);
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
    this.keepSettings({ model: id });
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

  /** Change settings, for all documents and all tabs. */
  keepSettings(some) {
    Object.assign(this.settings, some);
    if (!keep.keepSettings(some)) this.unkept("settings are not kept by this browser");
    this.tell("settings");
  }

  /** Take over what another tab wrote. */
  #otherSettings() {
    const before = [this.settings.include, this.settings.exclude].join();
    this.settings = keep.loadSettings(DEFAULTS);
    this.dispatchEvent(new Event("settings"));
    this.dispatchEvent(new Event("threshold"));
    if (this.work && before !== [this.settings.include, this.settings.exclude].join()) this.tag();
  }

  get threshold() {
    const own = this.current?.threshold ?? 0.5;
    return this.settings.thresholds[this.current?.id] ?? own;
  }

  set threshold(value) {
    const { [this.current.id]: _, ...others } = this.settings.thresholds;
    const thresholds = value === null ? others : { ...others, [this.current.id]: value };
    this.keepSettings({ thresholds });
  }

  useLists(include, exclude) {
    if (include === this.settings.include && exclude === this.settings.exclude) return;
    this.keepSettings({ include, exclude });
    if (this.work) this.tag();
  }

  neverSuggest(info) {
    this.work.act?.never.push(info.id);
    if (this.work.act && this.decisions.of(info.id) !== "rejected") this.decisions.decide(info, "rejected");
    const line = `${info.id} ${info.descriptor}`;
    const before = this.settings.exclude.trimEnd();
    this.decisions.excluded(info);
    this.useLists(this.settings.include, before ? `${before}\n${line}` : line);
    say(`${info.descriptor} will not be suggested again`);
  }

  suggestAgain(id) {
    const lines = this.settings.exclude.split("\n").filter((line) => !ids(line).includes(id));
    this.useLists(this.settings.include, lines.join("\n"));
  }

  #lists() {
    const exclude = [...new Set([...ids(this.settings.exclude), ...acts.store.stopped])];
    return { include: ids(this.settings.include), exclude, ...this.named };
  }

  /** The language of names, as the service is asked for it; nothing where the model has it not. */
  get named() {
    const { labels } = this.settings;
    return this.current?.languages.includes(labels) ? { labels } : {};
  }

  useNames(labels) {
    this.keepSettings({ labels });
    if (this.work) this.tag();
  }

  // --- documents ------------------------------------------------------------------------------

  /** Text that was pasted, or a file; `many` where there are several documents to choose from. */
  async read(file, { text = false, name = file?.name, act = "" } = {}) {
    progress({ text: "Reading the document" });
    const run = (this.#readRun = new AbortController());
    try {
      const asked = act
        ? api.post("v1/fetch", { act }, run.signal)
        : api.parse(file, { text, name, signal: run.signal });
      const found = await asked;
      const whole = withText(found.documents);
      settled("read");
      if (whole.length === 1) {
        await this.begin(whole[0], name);
      } else {
        this.many = { documents: whole, more: found.more, name };
        this.tell("many");
      }
    } catch (error) {
      trouble("read", error, () => this.read(file, { text, name, act }));
    } finally {
      if (!this.tagging) progress(null);
    }
  }

  /** All documents of several files; what cannot be read is said and stops nothing. */
  async readAll(files) {
    const run = (this.#readRun = new AbortController());
    const documents = [];
    const added = [];
    const failed = [];
    for (const [n, file] of files.entries()) {
      progress({ text: `Reading file ${number(n + 1)} of ${number(files.length)}`, done: n, steps: files.length });
      try {
        const found = await api.parse(file, { signal: run.signal });
        const whole = withText(found.documents).map((one) => [one, file.name]);
        if (acts.store.on) added.push(...(await this.#add(whole)));
        else documents.push(...whole);
        if (found.more) failed.push([file.name, new Error("holds more documents than are read at a time")]);
      } catch (error) {
        if (error.name === "AbortError") break;
        failed.push([file.name, error]);
      }
    }
    progress(null);
    settled("read");
    settled("files");
    if (acts.store.on) this.#showAdded(added);
    else await this.beginAll(documents);
    if (failed.length) trouble("files", unread(failed), null); // it stays wherever the page turns to
  }

  /** Take several documents: the first is opened, the others wait among the kept ones. */
  async beginAll(documents) {
    if (acts.store.on) return this.#putDown(documents);
    const works = documents.map(([one, source]) => this.workOf(one, source));
    for (const work of works.slice(1).reverse()) {
      try {
        if (!(await keep.load(work.id))) await keep.keepText(work);
      } catch (error) {
        this.unkept(error.message);
      }
    }
    if (works.length) await this.begin(...documents[0]);
    if (works.length < 2) return;
    notice(`${count(works.length, "document")} taken. The first is open; the others wait under “Your documents”.`);
  }

  /** Put documents on the worklist; one alone is opened. */
  async #putDown(documents) {
    const added = [];
    try {
      for (const [n, one] of documents.entries()) {
        progress({ text: `Adding ${number(n + 1)} of ${number(documents.length)}`, done: n, steps: documents.length });
        added.push(...(await this.#add([one])));
      }
      settled("add");
    } catch (error) {
      trouble("add", error, () => this.#putDown(documents.slice(added.length)));
    } finally {
      progress(null);
    }
    if (documents.length === 1 && added.length) location.hash = acts.addressOf(added[0].id);
    else this.#showAdded(added);
  }

  /** One at a time: together they may be more than the service takes. */
  async #add(documents) {
    const added = [];
    for (const [one, source] of documents) added.push(...(await acts.add([one], source ?? "")));
    return added;
  }

  #showAdded(added) {
    const fresh = added.filter((one) => one.new).length;
    const known = added.length - fresh;
    notice(`${count(fresh, "act")} added${known ? `, ${number(known)} were there already` : ""}.`);
    location.hash = "#/worklist";
    this.tell("worklist");
  }

  workOf(document, source) {
    return {
      id: document.uuid, // the same for the same text, so that a file opened again is found again
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
      undo: [], // steps that can be taken back, the latest last
      decided: 0, // when something was decided, in milliseconds
      exported: 0, // and when it was exported
      version: 0, // how often it was stored
      lit: [],
      act: null, // where it stands on the worklist of the service, if it does
    };
  }

  /** Start to work on a document, or go on where it was opened before. */
  async begin(document, source) {
    if (acts.store.on) return this.#putDown([[document, source]]);
    if (await this.resume(document.uuid)) {
      history.pushState(null, "", `#${document.uuid}`);
      say("This document was opened before: what was decided is here");
      return;
    }
    this.#leave();
    this.work = this.workOf(document, source);
    this.#storing = keep.keepText(this.work).then(
      () => this.unkept(""),
      (error) => this.unkept(error.message),
    );
    history.pushState(null, "", `#${this.work.id}`);
    this.tell("document");
    this.tag();
  }

  /** Give the document another title and id. */
  rename(title, name) {
    if (title === this.work.title && name === this.work.name) return;
    this.change((work) => {
      Object.assign(work, { title, name });
      if (work.act) work.act.named = { new_id: name, new_title: title };
    }, "title");
  }

  /** What was decided so far is safe elsewhere. */
  markExported() {
    const at = Date.now();
    this.change((work) => Object.assign(work, { exported: at }), "exported");
  }

  /** Work on an act of the worklist. */
  open(work) {
    this.#leave();
    this.work = work;
    this.tell("document", "predictions", "decisions", "lit", "compare", "act");
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
    this.lights.fetch();
    this.compare();
    return true;
  }

  close() {
    this.#leave();
    this.work = null;
    this.tell("document");
  }

  /** What is asked about the document ends with it. */
  get signal() {
    return this.#run.signal;
  }

  #leave() {
    this.#run.abort();
    this.#run = new AbortController();
    this.#tagRun.abort();
    this.tagging = this.stale = false; // at once: what is opened next asks whether it is tagged
    this.lights.clear();
    this.compared = null;
    if (!acts.store.on) notice(""); // with a worklist it is about what comes next
    for (const what of ["read", "tag", "evidence", "compare", "score"]) settled(what);
    this.saveNow();
  }

  // --- suggestions ----------------------------------------------------------------------------

  /** The document as the service wants it. */
  document() {
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
    this.compared = null;
    work.complete = false;
    work.parts = {};
    progress({ text: `Reading ${count(work.words, "word")}` });
    this.tell("progress", "compare");
    this.compare();
    try {
      const asked = { ...this.document(), ...this.#lists(), model: work.model, top: TOP };
      asked.section_top = work.sections.length > 1 ? SECTION_TOP : 0;
      for await (const event of api.stream("v1/tag/stream", asked, run.signal)) {
        if (run.signal.aborted) return;
        if (event.event === "document") this.#tagged(work, event.tagging);
        if (event.event === "section") this.#part(work, event);
      }
      work.complete = true;
      settled("tag");
    } catch (error) {
      if (error.kind === "unknown-model") this.loadModels(); // the service came back with others
      else if (this.#tagRun === run) trouble("tag", error, () => this.tag());
    } finally {
      if (this.#tagRun === run) {
        this.tagging = this.stale = false;
        progress(null);
        this.tell("progress");
      }
    }
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
    this.tell("predictions", "decisions");
    this.sayAbove();
  }

  #part(work, event) {
    const scores = Object.entries(event.scores).filter(([, score]) => score >= FAINT);
    const best = event.predictions.filter((one) => one.assigned).map((one) => one.descriptor);
    work.parts[event.section] = { scores: Object.fromEntries(scores), best };
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

  /** The suggestions that pass the cut. */
  get above() {
    const all = this.work?.predictions ?? [];
    return all.slice(0, passed(all.map((one) => one.score), this.choice));
  }

  sayAbove() {
    const { length } = this.above;
    say(length ? count(length, "suggestion") : NONE[this.choice.by]);
  }

  /** How suggestions are cut. */
  get choice() {
    const { by, best, precision } = this.settings;
    return { by, best, precision, threshold: this.threshold };
  }

  /** Cut in another way, or elsewhere: {by}, {best}, {precision} or {threshold}. */
  choose({ threshold, ...some }) {
    if (threshold !== undefined) this.threshold = threshold;
    else this.keepSettings(some);
    this.tell("threshold");
  }

  async compare() {
    const work = this.work;
    if (!work?.other || !this.model(work.other)) return;
    try {
      const found = await api.post(
        "v1/compare",
        { ...this.document(), ...this.#lists(), models: [work.model, work.other] },
        this.signal,
      );
      if (this.work !== work || found.models.join() !== [work.model, work.other].join()) return;
      settled("compare");
      this.compared = found;
      this.tell("compare");
    } catch (error) {
      trouble("compare", error, () => this.compare());
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
    if (work.act) {
      await acts.save(work);
      this.#saving = false;
      this.saveNow();
      return;
    }
    await this.#storing; // and all that changes in this step is written in one go
    const changes = this.#changes.get(work) ?? [];
    this.#changes.delete(work);
    try {
      const stored = await keep.keepWork(work, changes);
      this.#stored.delete(work);
      if (this.#changes.has(work)) this.#stored.set(work, structuredClone(stored));
      this.#takeOver(work, stored, stored.version !== work.version + 1);
    } catch (error) {
      this.#changes.set(work, [...changes, ...(this.#changes.get(work) ?? [])]);
      this.unkept(error.message);
    }
    this.#saving = false;
    this.saveNow();
  }

  /** The page is left: what is not stored yet is written at once, for whoever opens it again. */
  leavePage() {
    for (const [work, before] of this.#stored) keep.leaveBehind(work.id, before, work);
    this.saveNow();
  }

  /** What is stored, with what was decided here since; drawn where another tab had a part in it. */
  #takeOver(work, stored, news) {
    Object.assign(work, stored);
    for (const change of this.#changes.get(work) ?? []) change(work);
    if (!news || this.work !== work) return;
    for (const topic of ["title", "decisions"]) this.dispatchEvent(new Event(topic));
  }

  /** Another tab wrote a work, or forgot some. */
  async #otherTab(id, version) {
    const { work } = this;
    if (!work) this.dispatchEvent(new Event("kept"));
    if (work?.id !== id || version <= work.version) return;
    const stored = await keep.load(id);
    if (stored && stored.version > work.version) this.#takeOver(work, keep.shared(stored), true);
  }

  /** Hear what other tabs do. */
  listen() {
    keep.onOtherTab((id, version) => this.#otherTab(id, version));
    keep.onOtherSettings(() => this.#otherSettings());
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

/** The documents that have text, without sections that have none. */
function withText(documents) {
  const whole = documents
    .map((one) => ({ ...one, sections: one.sections.filter((part) => part.text.trim()) }))
    .filter((one) => one.sections.length);
  if (!whole.length) throw new api.Problem(422, { detail: "there is no text to read" });
  return whole;
}

function unread(failed) {
  const sentences = failed.map(([name, error]) => `${name}: ${error.message.replace(/[.]$/, "")}`);
  return new api.Problem(422, { detail: `not all files were read. ${sentences.join("; ")}` });
}

const firstWords = (text) => text.trim().split("\n")[0].slice(0, 120);

export const desk = new Desk();
