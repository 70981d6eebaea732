/**
 * Returns a schedule's next slot after the due one: the first in the future. Slots missed during an outage become one
 * run, and a delay does not move later slots.
 */
export const findNextSlot = (slotAt: number, intervalMs: number, now: number): number => {
  const missed = Math.max(0, Math.floor((now - slotAt) / intervalMs));
  return slotAt + (missed + 1) * intervalMs;
};
