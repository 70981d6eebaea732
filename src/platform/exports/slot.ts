/**
 * When a schedule runs next, after the slot that is due: the first one of its own that still lies ahead, so that slots
 * missed meanwhile become one run and no delay moves those that follow.
 */
export const nextSlot = (slotAt: number, intervalMs: number, now: number): number => {
  const missed = Math.max(0, Math.floor((now - slotAt) / intervalMs));
  return slotAt + (missed + 1) * intervalMs;
};
