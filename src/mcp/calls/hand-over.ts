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
import { type StoredName, type OnPage, OWN_KEY, type SecretPages } from "../http/secret-pages.ts";
import type { Operation } from "../../contract/operation.ts";

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
  // Null where the page is one on which the person makes something themselves.
  z
    .object({
      answer: z.object({
        structured: z.record(z.string(), z.unknown()),
        notes: z.array(z.string()),
        etag: z.string().nullable(),
      }),
      stored: z.object({ name: z.string(), kind: z.enum(["api-key", "webhook-secret"]) }),
    })
    .nullable(),
]);

const MESSAGES = {
  "api-key": "The new API key is on this page. It is shown once, to you alone.",
  "webhook-secret": "The webhook's secret is on this page. It is shown once, to you alone.",
  "own-key": "Sign in on this page to make the API key. It is shown once, to you alone.",
} as const;

/** What the person is told beside, by the host that opens the page. */
const BY_TOKEN = " It asks for the access token from this assistant's settings.";

const owners = (how: string): Refusal =>
  new Refusal("sign_in_required", `Only the person can make an API key of theirs. ${how}`);

const offered = (expiresAt: number): string =>
  `The person was given a page that shows it once, until ${iso(expiresAt)}; it is not part of this conversation.`;

const strange = (): Refusal =>
  new Refusal(
    "confirmation_invalid",
    "What came back about the page is not what this server gave; nothing more was changed.",
  );

/** How a secret is read by whoever has the server's own machine. */
export const readWith = (name: string): string =>
  `Whoever runs this server reads it with: receivables-mcp secrets show ${name}`;

export type HandOverNeeds = {
  key: Buffer;
  pages: SecretPages;
  caller: string;
  now: Clock;
  wait: Pick<Wait, "sleep">;
};

export type Handing = { answer: Answer; stored: StoredName; purpose: Purpose; host: Opens };

export type HandOver = {
  /** Whether what an operation makes is made by the person alone, on a page. */
  isOwners(operation: Operation): boolean;
  /** Brings the person to the page on which they make it; a Refusal that says so, or the page that the host is asked to open first. */
  invite(purpose: Purpose, host: Opens): Promise<{ ask: InputRequiredResult }>;
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

  const byHost = (shown: OnPage) => {
    const { url, expiresAt } = pages.make(shown, caller);
    const more = pages.proof === "token" ? BY_TOKEN : "";
    return { page: { url, message: MESSAGES[shown.kind] + more }, expiresAt };
  };

  const toOwner = (): Refusal => {
    const { url, expiresAt } = pages.make(OWN_KEY, caller);
    return owners(
      `They do, once and until ${iso(expiresAt)}, at ${url} by signing in there; give them the address, and do not ask for what is there.`,
    );
  };

  /** The page, for a host of 2026 to open before it comes again. */
  const asked = (
    purpose: Purpose,
    { page, expiresAt }: ReturnType<typeof byHost>,
    handed: { answer: Answer; stored: StoredName } | null,
  ) => ({
    ask: inputRequired({
      inputRequests: { [KEY]: inputRequired.elicitUrl(page) },
      requestState: states.seal([bindingOf(purpose), now() + LIFE_MS, expiresAt, handed]),
    }),
  });

  /** For whom no host opened a page. The address passes the model, so that it alone shows nothing. */
  const told = (answer: Answer, stored: StoredName): Answer => {
    if (pages.proof !== "token") {
      return noted(answer, readWith(stored.name));
    }
    const { url, expiresAt } = pages.make(stored, caller);
    return noted(
      answer,
      `The person takes it, once and until ${iso(expiresAt)}, at ${url} with the access token from their assistant's settings; give them the address, and do not ask for what is there.`,
    );
  };

  /** Whether the person agreed, or still may: they take the time that they need. */
  const openNow = async (page: UrlPage, open: (page: UrlPage) => Promise<boolean>) => {
    const patience = new AbortController();
    return Promise.race([
      open(page),
      wait.sleep(PATIENCE_MS, patience.signal).then(
        () => true,
        () => true,
      ),
    ]).finally(() => patience.abort());
  };

  return {
    isOwners: (operation) =>
      pages.proof === "password" && operation.returnsSecret?.kind === "api-key",
    async invite(purpose, host) {
      if (host.opens === "never") throw toOwner();
      const made = byHost(OWN_KEY);
      if (host.opens === "by_round") return asked(purpose, made, null);
      const agreed = await openNow(made.page, host.open);
      throw agreed ? owners(offered(made.expiresAt)) : toOwner();
    },
    async begin({ answer, stored, purpose, host }) {
      if (host.opens === "never") return { answer: told(answer, stored) };
      const made = byHost(stored);
      if (host.opens === "by_round") return asked(purpose, made, { answer, stored });
      const agreed = await openNow(made.page, host.open);
      return { answer: agreed ? noted(answer, offered(made.expiresAt)) : told(answer, stored) };
    },
    resume(host, purpose) {
      if (host.opens !== "by_round") return undefined;
      const view = inputResponse(host.responses, KEY);
      if (view.kind === "missing") return undefined;
      const sealed = typeof host.state === "string" ? states.open(host.state) : undefined;
      const { data } = Sealed.safeParse(sealed);
      // Not taken for a call of its own, which would make a second secret.
      if (data === undefined || data[0] !== bindingOf(purpose) || data[1] < now()) throw strange();
      const [, , expiresAt, handed] = data;
      const agreed = view.kind === "elicit" && view.action === "accept";
      if (handed === null) throw agreed ? owners(offered(expiresAt)) : toOwner();
      const { answer, stored } = handed;
      return agreed ? noted(answer, offered(expiresAt)) : told(answer, stored);
    },
  };
};
