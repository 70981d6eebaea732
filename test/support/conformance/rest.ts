import {
  acceptedContent,
  inputRequired,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { PNG } from "./content.ts";

const text = { mimeType: "text/plain" };

export const addResources = (server: McpServer): void => {
  for (const name of ["static-text", "watched-resource"]) {
    const uri = `test://${name}`;
    server.registerResource(name, uri, { description: "A text.", ...text }, () => ({
      contents: [{ uri, ...text, text: `The text of ${name}.` }],
    }));
  }
  const binary = { uri: "test://static-binary", mimeType: "image/png" };
  server.registerResource(
    "static-binary",
    binary.uri,
    { description: "An image.", mimeType: binary.mimeType },
    () => ({ contents: [{ ...binary, blob: PNG }] }),
  );
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "A record by its id.", mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [{ uri: href, mimeType: "application/json", text: JSON.stringify({ id }) }],
    }),
  );
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
};

const user = (content: object) => ({ role: "user" as const, content: content as never });
const line = (words: string) => user({ type: "text", text: words });

export const addPrompts = (server: McpServer): void => {
  server.registerPrompt("test_simple_prompt", { description: "Without arguments." }, () => ({
    messages: [line("A simple prompt.")],
  }));
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "With two arguments.",
      argsSchema: z.object({ arg1: z.string(), arg2: z.string() }),
    },
    ({ arg1, arg2 }) => ({ messages: [line(`arg1 is ${arg1}, arg2 is ${arg2}`)] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource.", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user({ type: "resource", resource: { uri: resourceUri, ...text, text: "Inside." } }),
        line("Read this."),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image." }, () => ({
    messages: [user({ type: "image", data: PNG, mimeType: "image/png" }), line("Look at this.")],
  }));
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "Asks before it is given." },
    // A prompt without arguments has the context as its first parameter, unlike its type.
    (...given: unknown[]) => {
      const { mcpReq } = given[0] as ServerContext;
      const answer = acceptedContent<{ context?: string }>(mcpReq.inputResponses, "user_context");
      if (answer?.context !== undefined) return { messages: [line(answer.context)] };
      const properties = { context: { type: "string" as const } };
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            message: "In which context?",
            requestedSchema: { type: "object", properties, required: ["context"] },
          }),
        },
      });
    },
  );
};

/** Adds the methods of hosts of 2025 beside tools, resources and prompts. */
export const addUtilities = ({ server }: McpServer): void => {
  server.setRequestHandler("logging/setLevel", () => ({}));
  server.setRequestHandler("completion/complete", () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
};
