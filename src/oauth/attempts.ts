import { HOUR, MINUTE } from "../kit/clock.ts";
import { toClientNetwork } from "../kit/network.ts";
import { type Budget, takeFrom } from "../kit/windows.ts";
import type { Storage } from "../records/port.ts";
import { hashId } from "../records/port.ts";

type Limit = Omit<Budget, "key">;

const SIGN_INS_PER_ACCOUNT_AND_NETWORK: Limit = { max: 10, windowMs: 15 * MINUTE };
const SIGN_INS_PER_NETWORK: Limit = { max: 40, windowMs: 15 * MINUTE };
const REGISTRATIONS: Limit = { max: 20, windowMs: HOUR };

/** Limits per network. Hosts in the cloud request the tokens of many people from one address. */
const REQUESTS = {
  pages: { max: 120, windowMs: MINUTE },
  protocol: { max: 600, windowMs: MINUTE },
} satisfies Record<string, Limit>;

/** Maximum number of clients without a grant. Beyond it, the network with the most of them loses its oldest. */
const MAX_UNUSED_CLIENTS = 1000;

// No limit counts over all networks: the platform limits attempts on an account without locking its user out.
const signInKeys = (email: string, ip: string): [key: string, limit: Limit][] => {
  const network = toClientNetwork(ip);
  const account = email.trim().normalize("NFC").toLowerCase();
  return [
    [hashId(`sign-in:${account}:${network}`), SIGN_INS_PER_ACCOUNT_AND_NETWORK],
    [hashId(`sign-in:${network}`), SIGN_INS_PER_NETWORK],
  ];
};

/**
 * Limits sign-ins, registrations and requests in windows that all processes share. An attempt is counted before its
 * result is known. Each count returns undefined within the limit, or the end of the window in epoch milliseconds.
 */
export const createAttempts = (storage: Storage) => {
  const count = async (key: string, limit: Limit): Promise<number | undefined> => {
    const budget = { key, ...limit };
    return (await takeFrom(storage.counter, [budget], { refund: false })).refusedUntil;
  };
  return {
    async countSignIn(email: string, ip: string): Promise<number | undefined> {
      const ends = await Promise.all(
        signInKeys(email, ip).map(([key, limit]) => count(key, limit)),
      );
      const exceeded = ends.filter((end) => end !== undefined);
      return exceeded.length === 0 ? undefined : Math.max(...exceeded);
    },
    /** Takes back the count of a successful sign-in. */
    async uncountSignIn(email: string, ip: string): Promise<void> {
      await Promise.all(signInKeys(email, ip).map(([key]) => storage.uncount(key)));
    },
    async countRegistration(ip: string): Promise<number | undefined> {
      const endsAt = await count(hashId(`registration:${toClientNetwork(ip)}`), REGISTRATIONS);
      if (endsAt === undefined) await storage.makeRoom("Client", MAX_UNUSED_CLIENTS);
      return endsAt;
    },
    countRequest: (kind: keyof typeof REQUESTS, ip: string): Promise<number | undefined> =>
      count(hashId(`${kind}:${toClientNetwork(ip)}`), REQUESTS[kind]),
  };
};

export type Attempts = ReturnType<typeof createAttempts>;
