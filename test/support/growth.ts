/** Does work in proportion to a size, such as matching a text of so many characters. */
export type Work = (size: number) => void;

const SAMPLES = 5;
const ATTEMPTS = 4;

/** The processor time of this thread in microseconds: other processes on the machine do not count. */
const costOf = (work: Work, size: number): number => {
  const before = process.threadCpuUsage();
  work(size);
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
};

const median = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

const medianCost = (work: Work, size: number): number =>
  median(Array.from({ length: SAMPLES }, () => costOf(work, size)));

/** From how many microseconds on a cost can be told from the clock's own noise. */
const MEASURABLE = 3000;

/** Whether the work takes long enough at this size to be measured. */
export const isMeasurable = (work: Work, size: number): boolean => {
  if (costOf(work, size) < MEASURABLE) return false;
  // The first run may have been compiled or interrupted.
  return costOf(work, size) >= MEASURABLE;
};

export type Sizes = { from: number; to: number };

/**
 * By what factor the cost grows where the size doubles, at the first size from which on it can be measured; the least of
 * several attempts, since interruptions only ever make one look worse. 0 where no size up to `to` can be measured.
 */
export const growthOf = (work: Work, { from, to }: Sizes): number => {
  let size = from;
  while (!isMeasurable(work, size)) {
    size *= 2;
    if (size > to) return 0;
  }
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least > MOST_GROWTH; attempt += 1) {
    least = Math.min(least, medianCost(work, size * 2) / medianCost(work, size));
  }
  return least;
};

/** Twice the text may cost twice as much, and some for larger tables and garbage. */
export const MOST_GROWTH = 2.6;
