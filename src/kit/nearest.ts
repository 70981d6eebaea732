import leven from "leven";

const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, "");
const LONGEST = 64;

/** The known names that a mistaken one may have meant, best first. */
export const nearest = (word: string, known: readonly string[], most = 3): string[] => {
  const meant = plain(word.slice(0, LONGEST));
  if (meant === "") return [];
  return known
    .map((name) => {
      const other = plain(name);
      const part = other.startsWith(meant) || meant.startsWith(other) || other.endsWith(meant);
      const isPart = part && other !== meant && meant.length > 2;
      return { name, far: isPart ? 1 : leven(meant, other) };
    })
    .filter(({ far }) => far <= Math.max(1, Math.floor(meant.length / 3)))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, most)
    .map(({ name }) => name);
};
