import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Fields, Host, ToolResult } from "./host.ts";
import { plainText, setTenantZone } from "./format.ts";

export type Problem = { code: string; message: string };

/** The answer of a tool, its refusal, or the question that a person must answer first. */
export type Reply =
  | { kind: "answer"; answer: Fields }
  | { kind: "problem"; problem: Problem }
  | { kind: "question"; summary: string; token: string };

/** The tool call for which the host shows the view. */
export type Opening = { tool: string | undefined; args: Fields; reply: Reply | undefined };

export type Session = { host: Host; opening: Opening };

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

const textOf = ({ content = [] }: ToolResult): string =>
  content.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n");

const readProblem = (result: ToolResult): Problem => {
  const { code, message } = fieldsOf(result._meta?.["receivables/problem"]);
  return {
    code: typeof code === "string" ? code : "failed",
    message: plainText(message ?? textOf(result)) || "The call failed.",
  };
};

/** Reads the result of a tool; undefined if the host passed on its text alone. */
export const readResult = (result: ToolResult): Reply | undefined => {
  const { structuredContent, isError } = result;
  if (isError !== true) {
    setTenantZone(fieldsOf(structuredContent?.["filter"])["timeZone"]);
    return structuredContent && { kind: "answer", answer: structuredContent };
  }
  const { confirmationToken, summary } = fieldsOf(result._meta?.["receivables/confirmation"]);
  return typeof confirmationToken === "string"
    ? { kind: "question", summary: plainText(summary), token: confirmationToken }
    : { kind: "problem", problem: readProblem(result) };
};

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
    return problem(error instanceof Error ? error.message : String(error));
  }
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
