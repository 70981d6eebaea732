import { HOUR, MINUTE } from "../kit/clock.ts";
import { hashId, type Storage } from "./records.ts";

const SIGN_INS: { most: number; ms: number; of: (email: string, ip: string) => string }[] = [
  { most: 10, ms: 15 * MINUTE, of: (email, ip) => `sign-in:${email}:${ip}` },
  { most: 40, ms: 15 * MINUTE, of: (_email, ip) => `sign-in:${ip}` },
  { most: 100, ms: HOUR, of: (email) => `sign-in:${email}` },
];

const plain = (email: string): string => email.trim().toLowerCase();

const REGISTRATIONS = { most: 20, ms: HOUR };
const MOST_CLIENTS = 1000;

/** How often things may be tried, counted by all processes together before it is known how they end. */
export const createAttempts = (storage: Storage) => {
  const until = async (key: string, most: number, ms: number): Promise<number | undefined> => {
    const { count, endsAt } = await storage.tally(hashId(key), ms);
    return count > most ? endsAt : undefined;
  };
  return {
    /** Undefined where one more sign-in may be tried, else the moment until which none may. */
    async signIn(email: string, ip: string): Promise<number | undefined> {
      const address = plain(email);
      const ends = await Promise.all(
        SIGN_INS.map(({ most, ms, of }) => until(of(address, ip), most, ms)),
      );
      const late = ends.filter((end) => end !== undefined);
      return late.length === 0 ? undefined : Math.max(...late);
    },
    /** A sign-in that was right counts for nothing. */
    async signedIn(email: string, ip: string): Promise<void> {
      const keys = SIGN_INS.map(({ of }) => hashId(of(plain(email), ip)));
      await Promise.all(keys.map((key) => storage.untally(key)));
    },
    async registration(ip: string): Promise<"good" | "often" | "full"> {
      const { most, ms } = REGISTRATIONS;
      if ((await until(`registration:${ip}`, most, ms)) !== undefined) return "often";
      return (await storage.live("Client")) >= MOST_CLIENTS ? "full" : "good";
    },
  };
};

export type Attempts = ReturnType<typeof createAttempts>;
