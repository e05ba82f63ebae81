/** From the evidence of several labels to stretches of text that carry some of each. */

/** Stretches of one section, in order, none overlapping another.
 *
 * `layers`: [{colour, spans: [{start, end, weight}], strongest, ...}]. A stretch holds `parts`:
 * [{layer, weight, strength}], strength between -1 and 1 beside the label's strongest word.
 */
export function segments(layers) {
  const edges = [];
  for (const layer of layers) {
    for (const span of layer.spans) {
      const strength = layer.strongest ? span.weight / layer.strongest : 0;
      const part = { layer, weight: span.weight, strength };
      edges.push({ at: span.start, part, open: true }, { at: span.end, part, open: false });
    }
  }
  edges.sort((a, b) => a.at - b.at);
  const found = [];
  const open = new Set();
  for (let n = 0; n < edges.length; ) {
    const { at } = edges[n];
    for (; n < edges.length && edges[n].at === at; n += 1) {
      if (edges[n].open) open.add(edges[n].part);
      else open.delete(edges[n].part);
    }
    if (open.size && n < edges.length && edges[n].at > at) {
      const parts = [...open].sort((a, b) => a.layer.colour - b.layer.colour);
      found.push({ start: at, end: edges[n].at, parts });
    }
  }
  return found;
}

/** The first of the sorted stretches that ends after this place. */
export function firstAfter(found, at) {
  let low = 0;
  let high = found.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (found[middle].end <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The colour of a part, as deep as it weighs; `none` where it speaks against its label. */
export function fill({ layer, strength }) {
  if (strength <= 0) return "transparent";
  const depth = Math.round(18 + 82 * Math.min(1, strength));
  return `color-mix(in srgb, var(--fill-${layer.colour}) ${depth}%, transparent)`;
}

/** One colour, or a band of each above one another. */
export function background(parts) {
  const colours = parts.map(fill);
  if (colours.length === 1) return colours[0];
  const step = 100 / colours.length;
  const bands = colours.map((colour, n) => `${colour} ${n * step}% ${(n + 1) * step}%`);
  return `linear-gradient(${bands.join(", ")})`;
}

const KINDS = {
  match: "the descriptor stands here",
  contribution: "of what all words add or take away",
  attention: "of the attention",
  attribution: "of what was looked at and moved the score",
};

export const KIND_SENTENCES = {
  match: "Match: the descriptor of the concept stands in the text.",
  contribution:
    "Contribution: the share of the score that the words add, exactly; dotted, what they take away.",
  attention:
    "Attention: where the network looked, which is no proof of why it decided. " +
    "Words with less than an equal share are unmarked.",
  attribution:
    "Attribution: where the network looked, times how much that moved the score. " +
    "Words with less than an equal share are unmarked.",
};

/** "citrus fruit: 21.0 % of the attention". */
export function weightSentence({ layer, weight }) {
  const sign = weight < 0 ? "−" : "";
  const share = `${sign}${(100 * Math.abs(weight)).toFixed(1)} %`;
  return layer.kind === "match" ? KINDS.match : `${share} ${KINDS[layer.kind]}`;
}
