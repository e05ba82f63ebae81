/** Elements from data. Texts become text nodes and nothing else: no markup is ever parsed here. */

export const $ = (id) => document.getElementById(id);

/** An element with attributes, listeners (`onclick`), custom properties (`style`) and children. */
export function h(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") setStyle(node, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Through the object model: the content policy forbids style attributes. */
export function setStyle(node, properties) {
  for (const [key, value] of Object.entries(properties)) node.style.setProperty(key, value);
}

/** A drawing of index.html. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** A button that is a drawing, with its name for those who do not see it. */
export function smallButton(drawing, name, onclick) {
  const attributes = { type: "button", class: "small", "aria-label": name, title: name, onclick };
  return h("button", attributes, icon(drawing));
}

const numbers = new Intl.NumberFormat("en");
export const number = (value) => numbers.format(value);

/** "1 word", "2 words". */
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;

export const shownScore = (score) => (score === null || score === undefined ? "–" : score.toFixed(2));

/** Give the browser time to paint and to listen; for work that would take longer than a frame. */
export const pause = () =>
  globalThis.scheduler?.yield ? scheduler.yield() : new Promise((done) => setTimeout(done));
