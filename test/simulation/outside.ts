import { EventEmitter } from "node:events";
import type { ClientRequest, RequestOptions } from "node:http";
import { createHmac } from "node:crypto";
import { Readable } from "node:stream";
import type { Dice } from "../support/dice.ts";
import type { Life, Scheduler } from "./scheduler.ts";

/** What a host of the internet does with a request, and where its name leads. */
type Host = {
  answers: "accepts" | "fails" | "hangs" | "refuses" | "redirects";
  leads: "public" | "private" | "nowhere";
};

/** A request that a receiver got. */
export type Received = {
  host: string;
  path: string;
  attempt: number;
  deliveryId: string;
  body: { event: string; scheduleId: string; payload: { runId: string; rowCount: number } };
  raw: Buffer;
  signature: string;
  address: string;
  /** The status that the receiver answered; undefined: it hangs. */
  answer: number | undefined;
};

const STATUSES = { accepts: 204, fails: 503, redirects: 302 };
const NAMES = ["one.example.org", "two.example.org", "three.example.org"];
const PUBLIC = "93.184.215.14";
const PRIVATE = "10.1.2.3";

class OutgoingRequest extends EventEmitter {
  readonly #send: (body: Buffer) => void;

  constructor(send: (body: Buffer) => void) {
    super();
    this.#send = send;
  }

  end(body: Buffer): this {
    this.#send(body);
    return this;
  }

  destroy(): this {
    return this;
  }
}

/** The internet beyond the platform: names, and receivers of webhooks that work or not. */
export const createOutside = (dice: Dice, scheduler: Scheduler) => {
  const hosts = new Map<string, Host>();
  const received: Received[] = [];

  const hostOf = (name: string): Host => {
    const known = hosts.get(name) ?? { answers: "accepts", leads: "public" };
    hosts.set(name, known);
    return known;
  };

  const receive = async (
    life: Life,
    url: URL,
    { request, options, body }: { request: EventEmitter; options: RequestOptions; body: Buffer },
  ): Promise<void> => {
    await scheduler.turn(life, `connects to ${url.host}`);
    const host = hostOf(url.hostname);
    const socket = new EventEmitter();
    request.emit("socket", socket);
    if (host.answers === "refuses") {
      request.emit("error", new Error("ECONNREFUSED"));
      return;
    }
    socket.emit("connect");
    socket.emit("secureConnect");
    const headers = options.headers as Record<string, string>;
    let address = "";
    options.lookup?.(url.hostname, {}, (_error, found) => {
      address = String(found);
    });
    const answer = host.answers === "hangs" ? undefined : STATUSES[host.answers];
    received.push({
      host: url.hostname,
      path: url.pathname,
      attempt: Number(headers["X-Webhook-Attempt"]),
      deliveryId: headers["X-Webhook-Id"] ?? "",
      body: JSON.parse(body.toString()) as Received["body"],
      raw: body,
      signature: headers["X-Webhook-Signature"] ?? "",
      address,
      answer,
    });
    if (answer === undefined) return;
    await scheduler.turn(life, `is answered ${answer} by ${url.host}`);
    request.emit("response", Object.assign(Readable.from([]), { statusCode: answer }));
  };

  return {
    received,
    /** Names of the hosts that receive webhooks. */
    names: NAMES,
    change(): string {
      const name = dice.pick(NAMES);
      const host = hostOf(name);
      host.answers = dice.weigh<Host["answers"]>([
        ["accepts", 3],
        ["fails", 2],
        ["hangs", 1],
        ["refuses", 1],
        ["redirects", 1],
      ]);
      host.leads = dice.weigh<Host["leads"]>([
        ["public", 6],
        ["private", 1],
        ["nowhere", 1],
      ]);
      return `${name} ${host.answers}, its name leads ${host.leads}`;
    },
    isPublic: (name: string): boolean => hostOf(name).leads === "public",
    async resolve(name: string): Promise<string[]> {
      const { leads } = hostOf(name);
      if (leads === "nowhere") throw new Error("ENOTFOUND");
      return [leads === "public" ? PUBLIC : PRIVATE];
    },
    request(life: Life, url: URL, options: RequestOptions): ClientRequest {
      const request = new OutgoingRequest((body) => {
        void receive(life, url, { request, options, body });
      });
      const abort = (): void => void request.emit("error", new Error("aborted"));
      options.signal?.addEventListener("abort", abort, { once: true });
      // As Node's requests do; a signal that is listened to stays in memory.
      const ignore = (): void => options.signal?.removeEventListener("abort", abort);
      request.once("response", ignore).once("error", ignore);
      return request as unknown as ClientRequest;
    },
    isSigned: ({ raw, signature }: Received, secret: string): boolean =>
      signature === `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`,
  };
};

export type Outside = ReturnType<typeof createOutside>;
