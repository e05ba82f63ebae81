/** Work that survives a reload: in IndexedDB, in this browser alone.
 *
 * The text of a document is written once (`texts`), what was decided about it often (`works`).
 * Decisions are written as changes to what is stored and never over it: another tab may have the
 * same document open.
 */

const ENOUGH = 20; // beyond so many, the oldest whose decisions were exported make room
const MOST_CHARACTERS = 200_000_000;
const NO_ROOM = "there is no room: export documents, or forget some";

const FACTS = ["title", "name", "decided", "exported"];

/** What all tabs share of a work; the rest is what was suggested and how it is looked at. */
export const SHARED = ["decisions", "undo", ...FACTS, "version"];

let opening = null;

function open() {
  opening ??= new Promise((done, failed) => {
    const request = indexedDB.open("labelwise-desk", 2);
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion) return upgrade(request.transaction.objectStore("works"));
      request.result.createObjectStore("works", { keyPath: "id" });
      request.result.createObjectStore("texts", { keyPath: "id" });
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close(); // a newer page wants it
      done(request.result);
    };
    request.onerror = () => failed(request.error);
    request.onblocked = () => failed(new Error("another tab holds the store"));
  });
  return opening;
}

/** Works of the first version had nothing to undo and did not know whether they were exported. */
function upgrade(works) {
  works.openCursor().onsuccess = ({ target: { result: cursor } }) => {
    if (!cursor) return;
    const decided = Object.keys(cursor.value.decisions).length ? cursor.value.saved : 0;
    cursor.update({ ...cursor.value, undo: [], decided, exported: 0, version: 1 });
    cursor.continue();
  };
}

// --- what a page that is left could not store any more -------------------------------------------

const LEFT = "labelwise-left-";

/** Write at once what was decided and is not stored yet; whoever writes the work next takes it up. */
export function leaveBehind(id, before, now) {
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const ids = Object.keys({ ...before.decisions, ...now.decisions });
  const left = {
    decisions: ids
      .filter((one) => !same(before.decisions[one], now.decisions[one]))
      .map((one) => [one, now.decisions[one] ?? null]),
    done: now.undo.filter(({ key }) => !before.undo.some((one) => one.key === key)),
    undone: before.undo.map(({ key }) => key).filter((key) => !now.undo.some((one) => one.key === key)),
    facts: Object.fromEntries(FACTS.filter((one) => before[one] !== now[one]).map((one) => [one, now[one]])),
  };
  try {
    localStorage.setItem(LEFT + id, JSON.stringify(left));
  } catch {
    // the browser keeps nothing, which was said
  }
}

/** What was left behind of a work, as a change to what is stored; null where there is nothing. */
function leftBehind(id) {
  const left = JSON.parse(localStorage.getItem(LEFT + id));
  if (!left) return null;
  return (work) => {
    for (const [one, decision] of left.decisions) {
      if (decision) work.decisions[one] = decision;
      else delete work.decisions[one];
    }
    const others = work.undo.filter(({ key }) => !left.done.some((one) => one.key === key));
    work.undo = [...others.filter(({ key }) => !left.undone.includes(key)), ...left.done];
    Object.assign(work, left.facts);
  };
}

async function transaction(mode, act) {
  const database = await open();
  return new Promise((done, failed) => {
    const started = database.transaction(["works", "texts"], mode);
    const request = act(started.objectStore("works"), started.objectStore("texts"));
    started.oncomplete = () => done(request?.result);
    started.onerror = () => failed(started.error);
    started.onabort = () => failed(started.error ?? new Error("the store is full"));
  });
}

// --- other tabs ---------------------------------------------------------------------------------

const channel = globalThis.BroadcastChannel ? new BroadcastChannel("labelwise-desk") : null;

/** Call `changed(id, version)` when another tab wrote a work; id is null where it forgot some. */
export function onOtherTab(changed) {
  channel?.addEventListener("message", ({ data }) => changed(data.id, data.version));
}

const tellTabs = (id, version) => channel?.postMessage({ id, version });

// --- works --------------------------------------------------------------------------------------

/** Whether all that was decided was exported afterwards: only such a work may make room. */
export const settledWork = ({ decided, exported }) => decided > 0 && exported >= decided;

const sizeOf = (sections) => sections.reduce((sum, one) => sum + one.text.length, 0);

/** Keep a new document; what was exported makes room, nothing else does. */
export async function keepText(work) {
  const fresh = structuredClone(record(work)); // what is decided meanwhile is stored after it
  const others = (await kept()).filter((one) => one.id !== work.id);
  let room = MOST_CHARACTERS - fresh.size;
  const leaving = [];
  for (const [place, one] of others.entries()) {
    if (settledWork(one) && (place + 1 >= ENOUGH || room < one.size)) leaving.push(one.id);
    else room -= one.size;
  }
  if (room < 0) throw new Error(NO_ROOM);
  await transaction("readwrite", (works, texts) => {
    for (const id of leaving) {
      works.delete(id);
      texts.delete(id);
    }
    texts.put({ id: work.id, sections: work.sections });
    return works.put(fresh);
  });
  tellTabs(work.id, fresh.version);
}

/** Apply changes to what is stored, and write how the work is looked at; gives what all tabs share. */
export async function keepWork(work, changes) {
  let written = null;
  const left = leftBehind(work.id);
  await transaction("readwrite", (works, texts) => {
    const request = works.get(work.id);
    request.onsuccess = () => {
      const stored = request.result;
      written = record(work);
      if (stored) {
        for (const name of SHARED) written[name] = stored[name];
        left?.(written);
        for (const change of changes) change(written);
      } else if (work.version) {
        texts.put({ id: work.id, sections: work.sections }); // forgotten elsewhere, at work here
      } else {
        return; // there was no room for it
      }
      written.version += left ? 2 : 1; // two, so that it is drawn where it was not yet known
      works.put(written);
    };
    return request;
  });
  if (!written.version) throw new Error(NO_ROOM);
  if (left) localStorage.removeItem(LEFT + work.id);
  tellTabs(work.id, written.version);
  return shared(written);
}

function record(work) {
  const { sections, ...rest } = work;
  return { ...rest, size: sizeOf(sections), saved: Date.now() };
}

export const shared = (work) => Object.fromEntries(SHARED.map((name) => [name, work[name]]));

/** All kept works without their texts, the latest first. */
export async function kept() {
  const all = await transaction("readonly", (works) => works.getAll());
  return all.sort((a, b) => b.saved - a.saved);
}

/** One with its text; null where it is gone. */
export async function load(id) {
  const work = await transaction("readonly", (works) => works.get(id));
  const text = await transaction("readonly", (_, texts) => texts.get(id));
  if (!work || !text) return null;
  const { size, saved, ...rest } = work;
  const found = { ...rest, sections: text.sections };
  return leftBehind(id) ? { ...found, ...(await keepWork(found, [])) } : found;
}

export async function forget(ids) {
  await transaction("readwrite", (works, texts) => {
    for (const id of ids) {
      texts.delete(id);
      works.delete(id);
    }
  });
  tellTabs(null, 0);
}

// --- settings -----------------------------------------------------------------------------------

const SETTINGS = "labelwise-settings";

/** What holds for every document: lists, theme, keys, the model last used. */
export function loadSettings(defaults) {
  try {
    const found = JSON.parse(localStorage.getItem(SETTINGS) ?? "{}");
    return { ...defaults, ...found };
  } catch {
    return { ...defaults };
  }
}

/** Write some of them, and leave the others as another tab may have written them. False where the
 * browser does not keep them. */
export function keepSettings(some) {
  try {
    localStorage.setItem(SETTINGS, JSON.stringify({ ...loadSettings({}), ...some }));
    return true;
  } catch {
    return false;
  }
}

/** Call `changed` when another tab wrote settings. */
export function onOtherSettings(changed) {
  addEventListener("storage", (event) => event.key === SETTINGS && changed());
}
