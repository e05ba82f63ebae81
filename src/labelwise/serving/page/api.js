/** The service. Every request of the page is made here. */

/** What the service refused, in its own words. */
export class Problem extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the service answered with ${status}`);
    this.status = status;
    this.kind = (problem.type || "").replace("urn:labelwise:", "");
    this.field = problem.field;
    this.more = problem; // what else it tells: of a conflict, what changed
  }
}

/** No answer, or one that ended in the middle. */
export class Unreachable extends Error {
  constructor(cut = false) {
    super(cut ? "The service went away in the middle of its answer." : "The service does not answer.");
  }
}

const KEY = "labelwise-key";
const SESSION = "v1/desk/session";
const PATIENCE = 30; // seconds that a busy service is asked again before the user is

/** Set by the page: `unlock(problem)` asks for a key, `signIn()` for a token, `waiting(sentence)` tells
 * why nothing comes. */
export const hooks = { unlock: null, signIn: null, waiting: () => {} };

let mostBytes = Infinity; // of a request; told by the service

/** What the service accepts, so that a body that is too large need not be sent to be refused; and
 * whether it keeps a worklist. */
export async function learnLimits() {
  const { limits, desk } = await get("ready");
  mostBytes = limits.max_body;
  return desk;
}

function checkSize(bytes) {
  if (bytes <= mostBytes) return;
  const [here, most] = [bytes, mostBytes].map((size) => `${(size / 1e6).toFixed(1)} MB`);
  throw new Problem(413, { detail: `this is ${here}, and the service reads ${most} at a time` });
}

let key = "";
try {
  key = sessionStorage.getItem(KEY) ?? "";
} catch {
  // a browser that keeps nothing: the key is asked for after each reload
}

export function useKey(given) {
  key = given;
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // as above
  }
}

let csrf = ""; // what writes carry, so that the service knows that this page made them

export function useCsrf(given) {
  csrf = given;
}

function headers(more) {
  if (csrf) more = { ...more, "X-CSRF-Token": csrf };
  if (!key) return more;
  // A header is made of bytes: the key goes as UTF-8.
  return { ...more, "X-API-Key": String.fromCharCode(...new TextEncoder().encode(key)) };
}

async function send(path, options) {
  const began = performance.now();
  for (;;) {
    const response = await once(path, options);
    if (response.ok) {
      hooks.waiting("");
      return response;
    }
    const problem = await problemOf(response);
    if (problem.kind === "not-signed-in" && hooks.signIn && path !== SESSION) {
      await hooks.signIn();
      options.headers = headers(options.headers);
    } else if (problem.kind === "unauthorised" && hooks.unlock) {
      await hooks.unlock(options.headers["X-API-Key"] ? "This key is not the right one." : "");
      options.headers = headers(options.headers);
    } else if (problem.status === 503 && performance.now() - began < PATIENCE * 1000) {
      hooks.waiting(problem.kind === "not-ready" ? "The models are being loaded" : "The service is busy");
      await sleep(Math.min(5, Number(response.headers.get("Retry-After")) || 1), options.signal);
    } else {
      hooks.waiting("");
      throw problem;
    }
  }
}

async function once(path, options) {
  try {
    return await fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    hooks.waiting("");
    if (error.name === "AbortError") throw error;
    throw new Unreachable();
  }
}

async function problemOf(response) {
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    // not ours: a proxy's page, say
  }
  return new Problem(response.status, problem);
}

function sleep(seconds, signal) {
  return new Promise((done, failed) => {
    const timer = setTimeout(done, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      failed(new DOMException("stopped", "AbortError"));
    });
  });
}

async function body(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable(true);
  }
}

export async function get(path, signal) {
  return body(await send(path, { headers: headers({}), signal }));
}

export async function post(path, content, signal) {
  return body(await send(path, posting(content, signal)));
}

export async function put(path, content) {
  return body(await send(path, { ...posting(content), method: "PUT" }));
}

export async function remove(path) {
  return body(await send(path, { method: "DELETE", headers: headers({}) }));
}

/** A file that the service makes. */
export async function file(path) {
  return (await send(path, { headers: headers({}) })).blob();
}

function posting(content, signal) {
  const body = new Blob([JSON.stringify(content)]);
  checkSize(body.size);
  return { method: "POST", headers: headers({ "Content-Type": "application/json" }), body, signal };
}

/** A file, or text that is to be read as text whatever it looks like. */
export async function parse(file, { name = file.name, text = false, signal } = {}) {
  checkSize(file.size);
  const form = new FormData();
  form.append("file", file, name || "document.txt");
  const path = text ? "v1/parse?format=text" : "v1/parse";
  return body(await send(path, { method: "POST", headers: headers({}), body: form, signal }));
}

/** The events of a stream, one by one; ends after `end`, throws on a problem or a cut. */
export async function* stream(path, content, signal) {
  const response = await send(path, posting(content, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await piece(reader);
    if (done) throw new Unreachable(true);
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const event = JSON.parse(line);
      if (event.event === "problem") throw new Problem(event.problem.status, event.problem);
      yield event;
      if (event.event === "end") return;
    }
  }
}

async function piece(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable(true);
  }
}
