import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { recordOf } from "./answers.ts";
import type { Fields, Host, ToolResult } from "./host.ts";
import { plainText, setTenantZone } from "./format.ts";
import type { KnownAnswers } from "./known-answers.ts";
import type { Problem, Question, Reply } from "./reply.ts";

/** The tool call for which the host shows the view. */
export type Opening = { tool: string | undefined; args: Fields; reply: Reply | undefined };

export type Session = { host: Host; opening: Opening; known: KnownAnswers };

const textOf = ({ content = [] }: ToolResult): string =>
  content.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n");

const readProblem = (result: ToolResult): Problem => {
  const { code, message, retryAfterSeconds } = recordOf(result._meta?.["receivables/problem"]);
  return {
    code: typeof code === "string" ? code : "failed",
    message: plainText(message ?? textOf(result)) || "The call failed.",
    ...(typeof retryAfterSeconds === "number" ? { retryAfterSeconds } : {}),
  };
};

const TICKET_KEY = "receivables/ticket";

/** Reads the question of a call that waits for the person in a view; undefined for any other result. */
const readWaiting = ({ structuredContent, _meta }: ToolResult): Question | undefined => {
  const ticket = _meta?.[TICKET_KEY];
  if (typeof ticket !== "string") return undefined;
  const { question, expiresAt } = recordOf(structuredContent?.["waiting"]);
  return {
    kind: "question",
    summary: plainText(question),
    expiresAt: plainText(expiresAt),
    ticket,
  };
};

const PICTURE_TYPE = /^image\/(?:png|jpeg|gif)$/;

/** The pictures of a result as `data:` addresses. */
const picturesOf = ({ content = [] }: ToolResult): string[] =>
  content.flatMap(({ type, mimeType = "", data }) =>
    type === "image" && data !== undefined && PICTURE_TYPE.test(mimeType)
      ? [`data:${mimeType};base64,${data}`]
      : [],
  );

/** Reads the result of a tool; undefined if the host passed on its text alone. */
export const readResult = (result: ToolResult): Reply | undefined => {
  const { structuredContent, isError } = result;
  if (isError !== true) {
    setTenantZone(recordOf(structuredContent?.["filter"])["timeZone"]);
    const answer: Reply | undefined = structuredContent && {
      kind: "answer",
      answer: structuredContent,
      pictures: picturesOf(result),
    };
    return readWaiting(result) ?? answer;
  }
  const { confirmationToken, summary, page } = recordOf(result._meta?.["receivables/confirmation"]);
  // With a page, the person answers there: the message names it.
  return typeof confirmationToken === "string" && page === undefined
    ? { kind: "question", summary: plainText(summary), token: confirmationToken }
    : { kind: "problem", problem: readProblem(result) };
};

const OFFLINE = "You are offline. This goes on by itself when the connection is back.";

/** Calls a tool through the host. */
export const callTool = async (host: Host, tool: string, args: Fields): Promise<Reply> => {
  const problem = (message: string): Reply => ({
    kind: "problem",
    problem: { code: "host", message },
  });
  try {
    const result = await host.callTool(tool, args);
    return readResult(result) ?? problem("The host passed on no data.");
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return problem(navigator.onLine ? message : OFFLINE);
  }
};

const DECLINED: Reply = {
  kind: "problem",
  problem: { code: "declined", message: "You did not confirm; nothing was changed." },
};

/** The problem of a call that asks although the person has answered. */
export const ASKED_AGAIN: Problem = {
  code: "failed",
  message: "The server asked again; nothing was changed.",
};

/** Tells the server the person's answer to a question about a call of `tool`. */
export const answerQuestion = async (
  host: Host,
  question: Question,
  { tool, args, isYes }: { tool: string; args: Fields; isYes: boolean },
): Promise<Reply> => {
  if ("ticket" in question) {
    const { ticket } = question;
    const reply = await callTool(
      host,
      "confirm_call",
      isYes ? { ticket } : { ticket, decline: true },
    );
    return isYes || reply.kind === "problem" ? reply : DECLINED;
  }
  return isYes ? callTool(host, tool, { ...args, confirmationToken: question.token }) : DECLINED;
};

/** Whether this server has a tool; the server writes their names into the page. */
export const hasTool = (name: string): boolean =>
  (document.documentElement.dataset["tools"] ?? "").split(" ").includes(name);

const SessionContext = createContext<Session | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("There is no session.");
  return session;
};
