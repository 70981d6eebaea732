import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type InputRequests,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { randomToken } from "../../../src/kit/ids.ts";
import { said } from "./content.ts";

type State = Record<string, unknown>;
type Codec = RequestStateCodec<State>;

const PREFIX = "test_input_required_result_";

const form = (message: string, name: string, type: "string" | "boolean" = "string") => {
  const properties = { [name]: type === "string" ? { type } : { type } };
  const requestedSchema = { type: "object" as const, properties, required: [name] };
  return inputRequired.elicit({ message, requestedSchema });
};

const sample = (text: string) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text } }],
    maxTokens: 50,
  });

const accepted = ({ mcpReq }: ServerContext, key: string, field: string): unknown =>
  acceptedContent(mcpReq.inputResponses, key)?.[field];

const sampledIn = ({ mcpReq }: ServerContext, key: string): string | undefined =>
  (mcpReq.inputResponses?.[key] as { content?: { text?: string } } | undefined)?.content?.text;

const rootsIn = ({ mcpReq }: ServerContext, key: string): { uri: string }[] | undefined =>
  (mcpReq.inputResponses?.[key] as { roots?: { uri: string }[] } | undefined)?.roots;

const tool = (server: McpServer, name: string, description: string, act: Act): void => {
  const inputSchema = z.object({});
  server.registerTool(`${PREFIX}${name}`, { description, inputSchema }, (_args, context) =>
    act(context),
  );
};
type Act = (
  context: ServerContext,
) => Promise<ReturnType<typeof said> | ReturnType<typeof inputRequired>>;

const addOneQuestion = (server: McpServer): void => {
  tool(server, "elicitation", "Asks for a name.", async (context) => {
    const name = accepted(context, "user_name", "name");
    if (typeof name === "string") return said(`Hello, ${name}.`);
    return inputRequired({ inputRequests: { user_name: form("What is your name?", "name") } });
  });
  tool(server, "sampling", "Has the host's model answer.", async (context) => {
    const answer = sampledIn(context, "capital_question");
    if (answer !== undefined) return said(answer);
    return inputRequired({
      inputRequests: { capital_question: sample("What is the capital of France?") },
    });
  });
  tool(server, "list_roots", "Asks for the host's folders.", async (context) => {
    const roots = rootsIn(context, "client_roots");
    if (roots !== undefined) return said(roots.map(({ uri }) => uri).join(", "));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
};

const addStates = (server: McpServer, codec: Codec): void => {
  const fresh = (state: State): Promise<string> => codec.mint({ ...state, nonce: randomToken() });
  for (const name of ["request_state", "tampered_state"]) {
    tool(server, name, "Asks for a yes, and sends a sealed state along.", async (context) => {
      const state = context.mcpReq.requestState<State>();
      const answered = accepted(context, "confirm", "ok") !== undefined;
      if (answered && state?.["tool"] === name) return said("state-ok");
      return inputRequired({
        inputRequests: { confirm: form("Please confirm.", "ok", "boolean") },
        requestState: await fresh({ tool: name }),
      });
    });
  }
  tool(server, "multi_round", "Asks twice, one after the other.", async (context) => {
    const state = context.mcpReq.requestState<State>();
    const name = accepted(context, "step1", "name");
    const color = accepted(context, "step2", "color");
    if (state?.["round"] === 2) return said(`${String(state["name"])} likes ${String(color)}.`);
    const question =
      state?.["round"] === 1
        ? { step2: form("Which colour do you like?", "color") }
        : { step1: form("What is your name?", "name") };
    return inputRequired({
      inputRequests: question,
      requestState: await fresh(state?.["round"] === 1 ? { round: 2, name } : { round: 1 }),
    });
  });
};

const addSeveralQuestions = (server: McpServer, codec: Codec): void => {
  const questions = (): InputRequests => ({
    user_name: form("What is your name?", "name"),
    greeting: sample("Say a greeting."),
    client_roots: inputRequired.listRoots(),
  });
  tool(server, "multiple_inputs", "Asks three things at once.", async (context) => {
    const name = accepted(context, "user_name", "name");
    const greeting = sampledIn(context, "greeting");
    const roots = rootsIn(context, "client_roots");
    if (typeof name === "string" && greeting !== undefined && roots !== undefined) {
      return said(`${greeting} ${name}, ${roots.length} folders`);
    }
    return inputRequired({
      inputRequests: questions(),
      requestState: await codec.mint({ nonce: randomToken() }),
    });
  });
  tool(server, "capabilities", "Asks only what the host can be asked.", async ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return said("Answered.");
    const envelope: Record<string, unknown> = mcpReq.envelope ?? {};
    const can = Object(envelope[CLIENT_CAPABILITIES_META_KEY]) as object;
    const { user_name, greeting, client_roots } = questions();
    const inputRequests = {
      ...("elicitation" in can && user_name ? { user_name } : {}),
      ...("sampling" in can && greeting ? { greeting } : {}),
      ...("roots" in can && client_roots ? { client_roots } : {}),
    };
    return Object.keys(inputRequests).length === 0
      ? said("The host can be asked nothing.")
      : inputRequired({ inputRequests });
  });
};

/** Tools that end with a question and are called again with the answer, as the protocol of 2026 does. */
export const addRounds = (server: McpServer, codec: Codec): void => {
  addOneQuestion(server);
  addStates(server, codec);
  addSeveralQuestions(server, codec);
};
