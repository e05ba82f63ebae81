/** Acts of a service that keeps a worklist: opened, decided upon a version, never overwritten.
 *
 * What was decided here is held against what the store has; the difference is sent, with the version
 * that it was decided upon. Where somebody else has written since, the store refuses, and what they
 * wrote is taken over; where both decided about one concept, the user is asked (conflict.js).
 */

import * as api from "./api.js";
import { desk } from "./desk.js";
import { count } from "./dom.js";
import { notice, say, sentence, settled, trouble } from "./messages.js";

/** Who works here, and what is not to be suggested to anybody; `on` where there is a worklist. */
export const store = { on: false, me: null, stopped: [] };

/** Set by conflict.js: which of two decisions about a concept is to hold. */
export const hooks = { choose: async () => "theirs" };

const path = (id) => `v1/desk/acts/${encodeURIComponent(id)}`;

/** The address of an act within the page; 2 is the second reader's. */
export const addressOf = (id, reading = 1) =>
  `#/${reading === 2 ? "second" : "act"}/${encodeURIComponent(id)}`;

/** Put documents on the worklist; gives their ids there. */
export async function add(documents, source) {
  const acts = documents.map(({ id, title, sections, labels }) => {
    return { id: id.slice(0, 500), title: title.slice(0, 20_000), sections, labels };
  });
  const found = await api.post("v1/desk/acts", { acts, source: source.slice(0, 500) });
  return found.acts;
}

// --- opening ------------------------------------------------------------------------------------

const ahead = new Map(); // the act that comes next, asked for while another is at work

async function fetched(id, reading) {
  const known = reading === 1 && ahead.get(id);
  ahead.clear();
  return known || api.get(`${path(id)}?reading=${reading}`);
}

/** Open an act, and ask for the one that comes next. */
export async function open(id, reading = 1) {
  try {
    if (!desk.models.length) await desk.loadModels();
    const found = await fetched(id, reading);
    settled("act");
    const document = { ...found, id: found.id };
    const work = desk.workOf(document, found.source);
    const { state, version, who, when } = found.reading;
    work.act = { id: found.id, reading, state, version, who, when, wanted: null, never: [], named: null, pending: null };
    take(work, found.reading);
    work.decisions = fromStore(found.reading.decisions);
    work.undo = steps(found.undo, work.decisions);
    work.predictions = work.model === found.model ? found.predictions : null;
    desk.open(work);
    if (state === "new") want("open");
    if (state === "open" && who !== store.me.name) notice(`${who} has begun this act.`);
    prefetch();
    return true;
  } catch (error) {
    trouble("act", error, () => open(id, reading));
    return false;
  }
}

async function prefetch() {
  const { work } = desk;
  if (work?.act.reading !== 1) return;
  try {
    const id = await nextId();
    if (!id || desk.work !== work) return;
    ahead.set(id, await api.get(`${path(id)}?reading=1`));
  } catch {
    // it is asked for again when it is wanted
  }
}

async function nextId() {
  return (await api.get(`v1/desk/next?after=${encodeURIComponent(desk.work.act.id)}`)).id;
}

// --- what was decided ---------------------------------------------------------------------------

const STATES = { accept: "accepted", add: "accepted", reject: "rejected", never: "rejected" };

/** Decisions of the store in the shape that the desk has them in. */
function fromStore(decisions) {
  return Object.fromEntries(
    decisions.map((one, order) => [
      one.concept,
      {
        ...one.info,
        score: one.score,
        rank: one.rank,
        model: one.model ?? "",
        state: STATES[one.what],
        how: one.what === "add" ? "added" : "suggested",
        at: Date.parse(one.when),
        order,
        who: one.who,
      },
    ]),
  );
}

const WORDS = { accept: "accepted", add: "added", reject: "rejected", never: "never suggested", remove: "undecided" };

/** What was decided last, on another day or before a reload, as the step that undo takes back. */
function steps(decided, decisions) {
  if (!decided.length) return [];
  const [one] = decided;
  const alone = decided.length === 1;
  const before = decided.map(({ concept, before: held }) => {
    const order = decisions[concept]?.order ?? 0;
    return [concept, held && { ...fromStore([held])[concept], order }];
  });
  const what = alone ? `${one.descriptor} ${WORDS[one.what]}` : count(decided.length, "decision");
  const never = alone && one.what === "never" ? one.concept : undefined;
  return [{ key: "stored", what, before, never }];
}

/** From now on this is what the store has. */
function take(work, reading) {
  const { act } = work;
  const address = addressOf(act.id, act.reading);
  Object.assign(act, {
    id: reading.act,
    title: reading.title,
    state: reading.state,
    version: reading.version,
    who: reading.who,
    when: reading.when,
    stored: fromStore(reading.decisions),
  });
  if (act.named) return; // another name is on its way
  Object.assign(work, { name: reading.act, title: reading.title || work.title });
  if (location.hash === address) history.replaceState(null, "", addressOf(act.id, act.reading));
}

/** A concept that was added has the score that the store found for it; whether there were some. */
function takeScores({ decisions, act }) {
  const found = Object.entries(act.stored).filter(([id, one]) => one.score !== null && decisions[id]?.score === null);
  for (const [id, { score, model }] of found) Object.assign(decisions[id], { score, model });
  return found.length > 0;
}

/** What the store has not been told yet. */
function unsent(work) {
  const { stored, state, wanted, never, named } = work.act;
  const found = [];
  for (const id of new Set([...Object.keys(stored), ...Object.keys(work.decisions)])) {
    const mine = work.decisions[id];
    if (mine?.state === stored[id]?.state) continue;
    if (!mine) found.push({ what: "remove", concept: id });
    else found.push(written(mine, never.includes(id)));
  }
  if (wanted === "reopen" || (found.length && state === "done")) found.unshift({ what: "reopen" });
  else if (wanted) found.push({ what: wanted });
  if (named) found.push({ what: "rename", ...named });
  return found;
}

function written({ id, state, how, model, score, rank }, never) {
  const accepted = how === "added" ? "add" : "accept";
  const refused = never ? "never" : "reject";
  return { what: state === "accepted" ? accepted : refused, concept: id, model: model || null, score, rank };
}

/** Whether something is not safe yet. */
export const unsaved = () => Boolean(desk.work?.act && unsent(desk.work).length);

const saving = new WeakMap(); // by work: one write after another

/** Send what was decided. False where it could not be written now; it is kept and sent later. */
export function save(work) {
  const before = saving.get(work) ?? Promise.resolve();
  const now = before.then(() => send(work));
  saving.set(work, now);
  return now;
}

async function send(work) {
  const { act } = work;
  const decisions = unsent(work);
  if (!act.pending && !decisions.length) return true;
  // A write whose answer was lost is sent again as it was, so that it is not written twice.
  act.pending ??= { version: act.version, reading: act.reading, key: newKey(), decisions };
  try {
    const found = await api.post(`${path(act.id)}/decisions`, act.pending);
    settled("store");
    if (act.pending.decisions.some((one) => one.what === act.wanted)) act.wanted = null;
    const renamed = act.pending.decisions.some((one) => one.what === "rename" && isNamed(act, one));
    if (renamed) act.named = null;
    act.pending = null;
    take(work, found);
    const scored = takeScores(work);
    if (desk.work === work) desk.dispatchEvent(new Event("act"));
    if (desk.work === work && scored) desk.dispatchEvent(new Event("decisions"));
    if (desk.work === work && renamed) desk.dispatchEvent(new Event("title"));
    if (renamed) say("Title and id changed");
  } catch (error) {
    try {
      await refused(work, error);
    } catch (again) {
      trouble("store", again, () => save(work));
      return false;
    }
  }
  return send(work);
}

const isNamed = ({ named }, { new_id, new_title }) => named?.new_id === new_id && named.new_title === new_title;

const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

async function refused(work, error) {
  if (error.kind === "conflict") await merge(work, error.more);
  else if (["wrong-state", "not-allowed"].includes(error.kind)) await reload(work, error);
  else if (error.kind === "id-taken") keepId(work, error);
  else throw error;
}

/** Another act has the id that was wanted: this one keeps its own, and gets its title. */
function keepId(work, error) {
  const { act } = work;
  act.pending = null;
  act.named = act.named.new_title === act.title ? null : { ...act.named, new_id: act.id };
  work.name = act.id;
  notice(sentence(error));
  if (desk.work === work) desk.dispatchEvent(new Event("title"));
}

/** Take over what others wrote; ask where both decided about one concept. */
async function merge(work, { changed, now }) {
  const { act } = work;
  const mine = new Set(unsent(work).map((one) => one.concept));
  const theirs = fromStore(now.decisions);
  const touched = [...new Set(changed.map((one) => one.concept).filter(Boolean))];
  const hadWanted = act.wanted;
  act.pending = null;
  act.wanted = null;
  const renamed = changed.some((one) => one.what === "rename");
  if (renamed) act.named = null;
  take(work, now);
  const others = [...new Set(changed.map((one) => one.who))];
  const names = others.map((one) => (one === store.me.name ? "You (in another tab)" : one)).join(", ");
  for (const id of touched) {
    const both = mine.has(id) && work.decisions[id]?.state !== theirs[id]?.state;
    const by = changed.findLast((one) => one.concept === id);
    if (both && (await hooks.choose(work.decisions[id], theirs[id], by)) === "mine") continue;
    if (theirs[id]) work.decisions[id] = theirs[id];
    else delete work.decisions[id];
  }
  if (desk.work !== work) return;
  const stays = hadWanted === "done" ? " Look at it, then finish it again." : "";
  if (renamed && !touched.length) {
    notice(`${names} gave this act another title or id meanwhile; it is shown here.${stays}`);
  } else if (touched.length || stays) {
    notice(`${names} changed ${count(touched.length, "concept")} of this act meanwhile; it is shown here.${stays}`);
  } else if (others.some((one) => one !== store.me.name)) {
    notice(`${names} has this act open too.`);
  }
  draw();
}

function draw() {
  for (const topic of ["title", "act", "decisions"]) desk.dispatchEvent(new Event(topic));
}

/** The act is not in the state for what was wanted: show it as it is. */
async function reload(work, error) {
  work.act.pending = null;
  work.act.wanted = null;
  work.act.named = null;
  const found = await api.get(`${path(work.act.id)}?reading=${work.act.reading}`);
  take(work, found.reading);
  work.decisions = fromStore(found.reading.decisions);
  notice(sentence(error));
  if (desk.work === work) draw();
}

/** What others did since, when somebody comes back to this tab. */
export async function refresh() {
  const { work } = desk;
  if (!work?.act || unsent(work).length) return;
  try {
    const { reading } = await api.get(`${path(work.act.id)}?reading=${work.act.reading}`);
    if (desk.work !== work || reading.version <= work.act.version || unsent(work).length) return;
    take(work, reading);
    work.decisions = fromStore(reading.decisions);
    notice("This act was changed meanwhile; it is shown here.");
    draw();
  } catch {
    // whoever writes next learns of it
  }
}

// --- done ---------------------------------------------------------------------------------------

function want(what) {
  desk.work.act.wanted = what;
  return save(desk.work);
}

/** Done, and on to the next act; a done act is reopened. */
export async function finish() {
  const { work } = desk;
  if (["done", "withdrawn"].includes(work.act.state)) {
    await want("reopen");
    return;
  }
  await want("done");
  if (desk.work !== work || work.act.state !== "done") return; // refused, or others wrote: stay
  say(`${work.title} is done`);
  let next = null;
  try {
    next = work.act.reading === 1 ? await nextId() : null;
  } catch (error) {
    trouble("act", error, null);
  }
  location.hash = next ? addressOf(next) : "#/worklist";
  if (!next && work.act.reading === 1) notice("Done. There is no other act to work on.");
}

/** Take an act off the worklist: for admins. */
export async function withdraw() {
  const { work } = desk;
  await want("withdraw");
  if (desk.work !== work || work.act.state !== "withdrawn") return; // others wrote: stay
  location.hash = "#/worklist";
  notice(`${work.title} was withdrawn. An admin finds it under “Withdrawn”.`);
}

// --- who works here -----------------------------------------------------------------------------

export async function whoAmI() {
  useSession(await api.get("v1/desk/session"));
  return store.me;
}

export function useSession(session) {
  store.me = session.name === null ? null : session;
  api.useCsrf(session.csrf);
  desk.dispatchEvent(new Event("me"));
}

export async function learnStopped() {
  try {
    store.stopped = (await api.get("v1/desk/stopped")).concepts.map((one) => one.id);
  } catch {
    store.stopped = [];
  }
}
