/** The service counts Unicode code points, JavaScript counts UTF-16 units. */

const BEYOND = /[\u{10000}-\u{10FFFF}]/gu;

/** A function from code points to UTF-16 units of this text. */
export function unitsOf(text) {
  const points = []; // where the characters of two units stand, in code points
  for (const match of text.matchAll(BEYOND)) points.push(match.index - points.length);
  if (!points.length) return (point) => point;
  return (point) => {
    let low = 0;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle] < point) low = middle + 1;
      else high = middle;
    }
    return point + low;
  };
}
