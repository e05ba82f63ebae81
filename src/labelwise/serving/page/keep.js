/** Work that survives a reload: in IndexedDB, in this browser alone, and bounded.
 *
 * The text of a document is written once (`texts`), decisions about it often (`works`).
 */

const MOST_WORKS = 20;
const MOST_CHARACTERS = 20_000_000;

let opening = null;

function open() {
  opening ??= new Promise((done, failed) => {
    const request = indexedDB.open("labelwise-desk", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("works", { keyPath: "id" });
      request.result.createObjectStore("texts", { keyPath: "id" });
    };
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
    request.onblocked = () => failed(new Error("another tab holds the store"));
  });
  return opening;
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

/** Keep a new document; the oldest ones make room. */
export async function keepText(work) {
  const size = work.sections.reduce((sum, one) => sum + one.text.length, 0);
  if (size > MOST_CHARACTERS) throw new Error("the document is too long to be kept");
  await transaction("readwrite", (works, texts) => {
    texts.put({ id: work.id, sections: work.sections });
    return works.put({ ...record(work), size });
  });
  let room = MOST_CHARACTERS;
  for (const [place, one] of (await kept()).entries()) {
    room -= one.size;
    if (one.id !== work.id && (place >= MOST_WORKS || room < 0)) await forget(one.id);
  }
}

/** Keep what was decided. */
export async function keepWork(work) {
  const size = work.sections.reduce((sum, one) => sum + one.text.length, 0);
  await transaction("readwrite", (works) => works.put({ ...record(work), size }));
}

function record(work) {
  const { sections, ...rest } = work;
  return { ...rest, saved: Date.now() };
}

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
  return { ...rest, sections: text.sections };
}

export async function forget(id) {
  await transaction("readwrite", (works, texts) => {
    texts.delete(id);
    return works.delete(id);
  });
}

export async function forgetAll() {
  await transaction("readwrite", (works, texts) => {
    texts.clear();
    return works.clear();
  });
}

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

/** False where the browser does not keep them. */
export function keepSettings(settings) {
  try {
    localStorage.setItem(SETTINGS, JSON.stringify(settings));
    return true;
  } catch {
    return false;
  }
}
