import {
  inputRequired,
  type InputRequiredResult,
  inputResponse,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Clock, HOUR, iso, SECOND } from "../../kit/clock.ts";
import { createSeal } from "../../kit/seal.ts";
import type { Wait } from "../../kit/wait.ts";
import type { Answer } from "../answer/answer.ts";
import { bindingOf, type Purpose } from "./binding.ts";
import { Refusal } from "../answer/refusal.ts";
import type { Kept, SecretPages } from "../http/secret-pages.ts";

/** A page that the host shall open for the person, and what it is for. */
export type UrlPage = { url: string; message: string };

/** How a host opens a page in the person's browser during this call, past the model. */
export type Opens =
  | { opens: "never" }
  /** The protocol of 2025: tells whether the person agreed. */
  | { opens: "now"; open(page: UrlPage): Promise<boolean> }
  /** The protocol of 2026: the call ends with the page and comes again with the person's answer. */
  | { opens: "by_round"; responses: Record<string, unknown> | undefined; state: unknown };

const KEY = "page";
// The page ends before: whoever answers late still hears what became of the call.
const LIFE_MS = HOUR;
/** A host that gives a call a minute still gets the answer, whatever the person does about the page. */
const PATIENCE_MS = 30 * SECOND;

const Sealed = z.tuple([
  z.string(),
  z.number(),
  z.number(),
  z.object({
    structured: z.record(z.string(), z.unknown()),
    notes: z.array(z.string()),
    etag: z.string().nullable(),
  }),
  z.object({ name: z.string(), kind: z.enum(["api-key", "webhook-secret"]) }),
]);

const MESSAGES = {
  "api-key": "The new API key is on this page. It is shown once, to you alone.",
  "webhook-secret": "The webhook's secret is on this page. It is shown once, to you alone.",
} as const;

const offered = (expiresAt: number): string =>
  `The person was given a page that shows it once, until ${iso(expiresAt)}; it is not part of this conversation.`;

const strange = (): Refusal =>
  new Refusal(
    "confirmation_invalid",
    "What came back about the page is not what this server gave; nothing more was changed.",
  );

export type HandOverNeeds = {
  key: Buffer;
  pages: SecretPages;
  caller: string;
  now: Clock;
  wait: Pick<Wait, "sleep">;
};

export type Handing = { answer: Answer; kept: Kept; purpose: Purpose; host: Opens };

export type HandOver = {
  /** Brings the person to the secret's page; the answer, or the page that the host is asked to open first. */
  begin(handing: Handing): Promise<{ answer: Answer } | { ask: InputRequiredResult }>;
  /** The answer of the call that ended with a page; undefined where this is another call. */
  resume(host: Opens, purpose: Purpose): Answer | undefined;
};

/** How people who are elsewhere get what a tool has put away for them, without a model between. */
export const createHandOver = ({ key, pages, caller, now, wait }: HandOverNeeds): HandOver => {
  const states = createSeal(key, "mcp/hand-over-state");

  const noted = (answer: Answer, note: string): Answer => ({
    ...answer,
    notes: [...answer.notes, note],
  });

  const byHost = (kept: Kept) => {
    const { url, expiresAt } = pages.make(kept, { caller, way: "host" });
    return { page: { url, message: MESSAGES[kept.kind] }, expiresAt };
  };

  /** For whom no host opened a page. The address passes the model, so that it alone shows nothing. */
  const told = (answer: Answer, kept: Kept): Answer => {
    if (!pages.canProve) {
      return noted(
        answer,
        `Whoever runs this server reads it with: receivables-mcp secrets show ${kept.name}`,
      );
    }
    const { url, expiresAt } = pages.make(kept, { caller, way: "answer" });
    return noted(
      answer,
      `The person takes it, once and until ${iso(expiresAt)}, at ${url} with the access token from their assistant's settings; give them the address, and do not ask for what is there.`,
    );
  };

  const openNow = async (
    { answer, kept }: Handing,
    open: (page: UrlPage) => Promise<boolean>,
  ): Promise<Answer> => {
    const { page, expiresAt } = byHost(kept);
    const patience = new AbortController();
    const agreed = await Promise.race([
      open(page),
      wait.sleep(PATIENCE_MS, patience.signal).then(
        () => true,
        () => true,
      ),
    ]).finally(() => patience.abort());
    return agreed ? noted(answer, offered(expiresAt)) : told(answer, kept);
  };

  return {
    async begin(handing) {
      const { answer, kept, purpose, host } = handing;
      if (host.opens === "never") return { answer: told(answer, kept) };
      if (host.opens === "now") return { answer: await openNow(handing, host.open) };
      const { page, expiresAt } = byHost(kept);
      const ask = inputRequired({
        inputRequests: { [KEY]: inputRequired.elicitUrl(page) },
        requestState: states.seal([bindingOf(purpose), now() + LIFE_MS, expiresAt, answer, kept]),
      });
      return { ask };
    },
    resume(host, purpose) {
      if (host.opens !== "by_round") return undefined;
      const view = inputResponse(host.responses, KEY);
      if (view.kind === "missing") return undefined;
      const sealed = typeof host.state === "string" ? states.open(host.state) : undefined;
      const { data } = Sealed.safeParse(sealed);
      // Not taken for a call of its own, which would make a second secret.
      if (data === undefined || data[0] !== bindingOf(purpose) || data[1] < now()) throw strange();
      const [, , expiresAt, answer, kept] = data;
      const agreed = view.kind === "elicit" && view.action === "accept";
      return agreed ? noted(answer, offered(expiresAt)) : told(answer, kept);
    },
  };
};
