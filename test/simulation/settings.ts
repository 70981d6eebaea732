import { DAY, HOUR, SECOND } from "../../src/kit/clock.ts";
import type { PlatformNeeds } from "../../src/platform/platform.ts";
import type { Dice } from "../support/dice.ts";

export const MASTER_KEY = Buffer.alloc(32, 7);

export const LIFETIMES = {
  sessionIdle: 900 * SECOND,
  sessionNominal: 3600 * SECOND,
  sessionLongest: 43_200 * SECOND,
  keyInactivity: 365 * DAY,
};

/** Of export runs longer than any run of the simulation, so that their rows can be read at its end. */
const KEPT_MS = 4000 * DAY;

/** What a run of the simulation keeps and how much, so that some runs remove audit entries or refuse files. */
export type Keeping = { retention: PlatformNeeds["retention"]; tenantFileBytes: number };

const chooseDays = (dice: Dice): number => dice.pick([KEPT_MS, KEPT_MS, HOUR, 20 * HOUR]);

export const chooseKeeping = (dice: Dice): Keeping => ({
  retention: { auditLogs: chooseDays(dice), exportRuns: KEPT_MS },
  tenantFileBytes: dice.pick([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 9000, 60_000]),
});

export const TRANSFERS = {
  urlLives: { upload: 900 * SECOND, download: 3600 * SECOND },
  publicUrl: undefined,
  ownUrl: async () => "http://platform.test",
};

export const DELAYS_MS = [30 * SECOND, 60 * SECOND, 120 * SECOND, 300 * SECOND];

export type Limits = PlatformNeeds["limits"];

export const NO_LIMITS: Limits = {
  gatewayPerMinute: 0,
  loginPerMinute: 0,
  visitorPerMinute: 0,
  exportPerMinute: 0,
  exportPerHour: 0,
};

/** Limits that a run reaches. */
export const LOW_LIMITS: Limits = {
  ...NO_LIMITS,
  gatewayPerMinute: 7,
  loginPerMinute: 4,
  exportPerMinute: 4,
  exportPerHour: 6,
};

/** Two tenants. The name of each is part of every text that it writes, and of no other. */
export const TENANTS = ["amber", "birch"] as const;
export type TenantId = (typeof TENANTS)[number];

export const BEGINNING = Date.parse("2026-02-27T21:30:00.000Z");
