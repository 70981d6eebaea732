import {
  inputRequired,
  type InputRequiredResult,
  inputResponse,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Clock, HOUR, formatTimestamp, SECOND } from "../../kit/clock.ts";
import { createSeal } from "../../kit/seal.ts";
import type { Wait } from "../../kit/wait.ts";
import type { Answer } from "../results/answer.ts";
import { bindingOf, type Purpose } from "./binding.ts";
import { Refusal } from "../results/refusal.ts";
import { type StoredName, type PageContent, OWN_KEY, type SecretPages } from "./secret-pages.ts";
import type { Operation } from "../../contract/operation.ts";

/** A page for the host to open in the person's browser, and a sentence that says what it is for. */
export type UrlPage = { url: string; message: string };

/** The way to open a page in the person's browser during this call (URL elicitation). */
export type Opens =
  | { opens: "never" }
  /** Protocol of 2025: resolves to whether the person agreed. */
  | { opens: "now"; open(page: UrlPage): Promise<boolean> }
  /** Protocol of 2026: the call ends with the page and is repeated with the person's answer. */
  | { opens: "by_round"; responses: Record<string, unknown> | undefined; state: unknown };

const KEY = "page";
// Longer than the page itself: a person who answers late still gets the result of the call.
const LIFE_MS = HOUR;
/** Hosts that end calls after a minute still get the answer while the person looks at the page. */
const PATIENCE_MS = 30 * SECOND;

const Sealed = z.tuple([
  z.string(),
  z.number(),
  z.number(),
  // Null for a page on which the person creates the key themselves.
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
  "api-key": "This page shows the new API key once.",
  "webhook-secret": "This page shows the webhook's secret once.",
  "own-key": "Sign in on this page to create the API key. The page shows it once.",
} as const;

const signInRequired = (nextStep: string): Refusal =>
  new Refusal("sign_in_required", `Only the person can make an API key of theirs. ${nextStep}`);

const describeOpened = (expiresAt: number): string =>
  `The person was given a page that shows it once, until ${formatTimestamp(expiresAt)}; it is not part of this conversation.`;

const invalidState = (): Refusal =>
  new Refusal(
    "confirmation_invalid",
    "The state that came back with the page's answer is not this server's. Nothing more was changed. Call the tool again without it.",
  );

/** Says how the operator of the server reads a stored secret. */
export const describeStored = (name: string): string =>
  `The operator of this server reads it with: receivables-mcp secrets show ${name}`;

export type HandOverNeeds = {
  key: Buffer;
  pages: SecretPages;
  caller: string;
  now: Clock;
  wait: Pick<Wait, "sleep">;
};

export type Handing = { answer: Answer; stored: StoredName; purpose: Purpose; host: Opens };

export type HandOver = {
  /** Whether the person must create the operation's secret themselves, on a page. */
  needsPerson(operation: Operation): boolean;
  /**
   * Returns the page on which the person creates the secret, for the host to open first.
   *
   * @throws {Refusal} sign_in_required, which says where the page is, if the host cannot open it first
   */
  invite(purpose: Purpose, host: Opens): Promise<{ ask: InputRequiredResult }>;
  /** Has the host open the secret's page. Returns the answer, or the page for the host to open first. */
  begin(handing: Handing): Promise<{ answer: Answer } | { ask: InputRequiredResult }>;
  /** Returns the answer of the earlier call that ended with a page; undefined for any other call. */
  resume(host: Opens, purpose: Purpose): Answer | undefined;
};

type Link = { page: UrlPage; expiresAt: number };

/** Returns true if the person agreed, or has not decided after `PATIENCE_MS`. */
const openNow = async (
  { wait }: HandOverNeeds,
  page: UrlPage,
  open: (page: UrlPage) => Promise<boolean>,
): Promise<boolean> => {
  const patience = new AbortController();
  return Promise.race([
    open(page),
    wait.sleep(PATIENCE_MS, patience.signal).then(
      () => true,
      () => true,
    ),
  ]).finally(() => patience.abort());
};

const addNote = (answer: Answer, note: string): Answer => ({
  ...answer,
  notes: [...answer.notes, note],
});

/** The page's address is the only proof it asks for, so it must not be part of an answer. */
const withoutPage = (answer: Answer, { name }: StoredName): Answer =>
  addNote(answer, describeStored(name));

const withPage = (answer: Answer, expiresAt: number): Answer =>
  addNote(answer, describeOpened(expiresAt));

const createPageLink = ({ pages, caller }: HandOverNeeds, content: PageContent): Link => {
  const { url, expiresAt } = pages.createLink(content, caller);
  return { page: { url, message: MESSAGES[content.kind] }, expiresAt };
};

/** The address may pass through the model, because this page asks for the person's password. */
const createAddressRefusal = ({ pages, caller }: HandOverNeeds): Refusal => {
  const { url, expiresAt } = pages.createLink(OWN_KEY, caller);
  return signInRequired(
    `They do, once and until ${formatTimestamp(expiresAt)}, at ${url} by signing in there; give them the address, and do not ask for what is there.`,
  );
};

/** Hands secrets over HTTP to people on other machines, so that no model sees them. */
export const createHandOver = (needs: HandOverNeeds): HandOver => {
  const { key, pages, now } = needs;
  const states = createSeal(key, "mcp/hand-over-state");

  /** Asks a host of 2026 to open the page and to repeat the call. */
  const askToOpen = (
    purpose: Purpose,
    { page, expiresAt }: Link,
    handed: { answer: Answer; stored: StoredName } | null,
  ) => ({
    ask: inputRequired({
      inputRequests: { [KEY]: inputRequired.elicitUrl(page) },
      requestState: states.seal([bindingOf(purpose), now() + LIFE_MS, expiresAt, handed]),
    }),
  });

  return {
    needsPerson: (operation) => pages.signsIn && operation.returnsSecret?.kind === "api-key",
    async invite(purpose, host) {
      if (host.opens === "never") throw createAddressRefusal(needs);
      const link = createPageLink(needs, OWN_KEY);
      if (host.opens === "by_round") return askToOpen(purpose, link, null);
      const agreed = await openNow(needs, link.page, host.open);
      throw agreed ? signInRequired(describeOpened(link.expiresAt)) : createAddressRefusal(needs);
    },
    async begin({ answer, stored, purpose, host }) {
      if (host.opens === "never") return { answer: withoutPage(answer, stored) };
      const link = createPageLink(needs, stored);
      if (host.opens === "by_round") return askToOpen(purpose, link, { answer, stored });
      const agreed = await openNow(needs, link.page, host.open);
      return { answer: agreed ? withPage(answer, link.expiresAt) : withoutPage(answer, stored) };
    },
    resume(host, purpose) {
      if (host.opens !== "by_round") return undefined;
      const view = inputResponse(host.responses, KEY);
      if (view.kind === "missing") return undefined;
      const sealed = typeof host.state === "string" ? states.open(host.state) : undefined;
      const { data } = Sealed.safeParse(sealed);
      // A foreign state must not start a call of its own, which would create a second secret.
      if (data === undefined || data[0] !== bindingOf(purpose) || data[1] < now()) {
        throw invalidState();
      }
      const [, , expiresAt, handed] = data;
      const agreed = view.kind === "elicit" && view.action === "accept";
      if (handed === null) {
        throw agreed ? signInRequired(describeOpened(expiresAt)) : createAddressRefusal(needs);
      }
      const { answer, stored } = handed;
      return agreed ? withPage(answer, expiresAt) : withoutPage(answer, stored);
    },
  };
};
