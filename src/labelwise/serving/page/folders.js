/** The files of what was dropped: folders are read with all that is in them. */

/** Files of a drop, in the order of their paths; without those whose name begins with a dot. */
export async function filesOf(carried) {
  // Entries are gone after the first wait: all are asked for at once.
  const entries = [...carried.items].map((one) => one.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((one) => one.isDirectory)) return [...carried.files];
  const found = [];
  for (const one of entries) found.push(...(await within(one)));
  return found;
}

async function within(entry) {
  if (entry.name.startsWith(".")) return [];
  if (entry.isFile) return [await new Promise((done, failed) => entry.file(done, failed))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A reader gives a hundred at a time, and none at the end.
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    found.push(...some);
  }
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = [];
  for (const one of found) files.push(...(await within(one)));
  return files;
}
