import leven from "leven";

const normalize = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, "");
const MAX_LENGTH = 64;
/** The shortest name that counts as the meant one where it ends the mistyped one, as `noteId` ends `disputeNoteId`. */
const SHORTEST_END = 4;

/** Returns up to `most` known names that resemble a mistyped one, best first. */
export const findNearest = (word: string, known: readonly string[], most = 3): string[] => {
  const target = normalize(word.slice(0, MAX_LENGTH));
  if (target === "") return [];
  // Distances are computed up to one more than the largest that counts: most names are far off.
  const maxDistance = Math.max(1, Math.floor(target.length / 3));
  return known
    .map((name) => {
      const other = normalize(name);
      const part =
        other.startsWith(target) ||
        target.startsWith(other) ||
        other.endsWith(target) ||
        (other.length >= SHORTEST_END && target.endsWith(other));
      const isPart = part && other !== target && target.length > 2;
      return {
        name,
        distance: isPart ? 1 : leven(target, other, { maxDistance: maxDistance + 1 }),
      };
    })
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ name }) => name);
};

/** Returns the end of a message about a mistyped name: a question that offers the names, or nothing. */
export const offerNames = (names: readonly string[]): string =>
  names.length === 0 ? "" : `; did you mean ${names.join(" or ")}?`;
