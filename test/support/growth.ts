/** Does work in proportion to a size, such as matching a text of that many characters. */
export type Work = (size: number) => void;

const SAMPLES = 3;
const ATTEMPTS = 3;

/** The processor time of this thread in microseconds: the load of the machine does not count. */
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

/** The least cost in microseconds that stands out from the noise of the clock. */
const MEASURABLE = 3000;

/** Whether the work takes long enough at this size to be measured. */
export const isMeasurable = (work: Work, size: number): boolean => {
  // A compilation or a garbage collection may delay one run, but not each.
  for (let run = 0; run < SAMPLES; run += 1) if (costOf(work, size) < MEASURABLE) return false;
  return true;
};

/** Linear work costs twice as much at twice the size, and some more for larger tables and garbage. */
export const MAX_GROWTH = 2.6;

/**
 * The factor by which the cost grows from this size to twice the size: the least of several attempts, since an
 * interruption only makes growth look worse.
 */
export const growthAt = (work: Work, size: number): number => {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least > MAX_GROWTH; attempt += 1) {
    least = Math.min(least, medianCost(work, size * 2) / medianCost(work, size));
  }
  return least;
};
