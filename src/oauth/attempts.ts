import { HOUR, MINUTE } from "../kit/clock.ts";
import { clientNetworkOf } from "../kit/network.ts";
import { hashId } from "./records.ts";
import type { Storage } from "./store/port.ts";

// Neither counts over all addresses: the platform limits guesses at an account without refusing its user.
const SIGN_INS: { most: number; ms: number; of: (email: string, network: string) => string }[] = [
  { most: 10, ms: 15 * MINUTE, of: (email, network) => `sign-in:${email}:${network}` },
  { most: 40, ms: 15 * MINUTE, of: (_email, network) => `sign-in:${network}` },
];

const plain = (email: string): string => email.trim().normalize("NFC").toLowerCase();

const networkOf = (ip: string): string => clientNetworkOf(ip) ?? ip;

const REGISTRATIONS = { most: 20, ms: HOUR };
/** Clients that no person has let in yet. Beyond it, the address with the most of them loses its oldest. */
const MAX_UNUSED_CLIENTS = 1000;

/** Requests of one address. Hosts in the cloud ask for the tokens of many people from one address. */
const REQUESTS = {
  pages: { most: 120, ms: MINUTE },
  protocol: { most: 600, ms: MINUTE },
};

/** How often things may be tried, counted by all processes together before it is known how they end. */
export const createAttempts = (storage: Storage) => {
  const until = async (key: string, most: number, ms: number): Promise<number | undefined> => {
    const { count, endsAt } = await storage.countAttempt(hashId(key), ms);
    return count > most ? endsAt : undefined;
  };
  return {
    /** Undefined where one more sign-in may be tried, else the moment until which none may. */
    async signIn(email: string, ip: string): Promise<number | undefined> {
      const address = plain(email);
      const ends = await Promise.all(
        SIGN_INS.map(({ most, ms, of }) => until(of(address, networkOf(ip)), most, ms)),
      );
      const late = ends.filter((end) => end !== undefined);
      return late.length === 0 ? undefined : Math.max(...late);
    },
    /** A sign-in that was right counts for nothing. */
    async signedIn(email: string, ip: string): Promise<void> {
      const keys = SIGN_INS.map(({ of }) => hashId(of(plain(email), networkOf(ip))));
      await Promise.all(keys.map((key) => storage.uncountAttempt(key)));
    },
    /** Undefined where the address may register one more client, else the end of its window. */
    async registration(ip: string): Promise<number | undefined> {
      const { most, ms } = REGISTRATIONS;
      const ends = await until(`registration:${networkOf(ip)}`, most, ms);
      if (ends === undefined) await storage.makeRoom("Client", MAX_UNUSED_CLIENTS);
      return ends;
    },
    /** Undefined where the address may send one more request, else the end of its window. */
    request(kind: keyof typeof REQUESTS, ip: string): Promise<number | undefined> {
      const { most, ms } = REQUESTS[kind];
      return until(`${kind}:${networkOf(ip)}`, most, ms);
    },
  };
};

export type Attempts = ReturnType<typeof createAttempts>;
