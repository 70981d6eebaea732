import { contract } from "../src/contract/index.ts";
import { quote } from "./formatting.ts";
import { defineTool } from "./tool.ts";

const { auth, api_keys, users } = contract;

export const identity = [
  defineTool(auth.login, "Open a session with the configured credentials.", { title: "Log in" }),
  defineTool(auth.verify_session, "Check the open session and extend it.", {
    title: "Verify session",
  }),
  defineTool(auth.logout, "Close the open session.", { title: "Log out" }),
  defineTool(
    api_keys.create,
    "Create an API key and save it to the person's secret store; returns its name there.",
    { title: "Create API key" },
  ),
  defineTool(api_keys.delete, undefined, {
    title: "Delete API key",
    // The platform has no operation that reads keys.
    confirm: {
      reads: {},
      question: ({ keyId }) => `Delete API key ${quote(keyId)}? Programs that use it stop working.`,
    },
  }),
  defineTool(users.list),
  defineTool(users.list_v1, undefined, { title: "List users (v1 format)" }),
  defineTool(users.profile, undefined, { title: "Get own profile" }),
];
