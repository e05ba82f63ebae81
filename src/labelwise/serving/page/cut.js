/** How far down the ranked suggestions one goes: by a threshold, by number, or by the precision that
 * their scores promise. Scores are sorted, the best first. Nothing here knows the page. */

/** How many pass. `choice`: {by, threshold, best, precision}. */
export function passed(scores, { by, threshold, best, precision }) {
  if (by === "best") return Math.min(best, scores.length);
  if (by === "threshold") return scores.filter((one) => one > threshold).length;
  let sum = 0;
  const below = scores.findIndex((one, n) => (sum += one) / (n + 1) < precision - 1e-6);
  return below < 0 ? scores.length : below;
}

/** The numbers of suggestions that a cut can leave: one stands wherever the score changes. */
export function steps(scores) {
  return scores.map((_, n) => n + 1).filter((n) => scores[n - 1] > Math.max(0, scores[n] ?? 0));
}

/** What lets just so many pass. */
export function settingFor(by, many, scores) {
  if (by === "best") return { best: many };
  if (by === "threshold") return { threshold: scores[many] ?? 0 };
  return { precision: Math.floor(1000 * expected(scores.slice(0, many))) / 1000 };
}

/** The share of these that is right, where scores are chances. */
export const expected = (scores) => scores.reduce((sum, one) => sum + one, 0) / Math.max(1, scores.length);
