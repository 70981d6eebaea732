import { contract } from "../src/contract/index.ts";
import { quoted } from "./shown.ts";
import { tool } from "./tool.ts";

const { auth, api_keys, users } = contract;

export const identity = [
  tool(auth.login, "Open a session with the configured credentials.", { title: "Log in" }),
  tool(auth.verify_session, "Check the open session and keep it alive.", {
    title: "Verify session",
  }),
  tool(auth.logout, "Close the open session.", { title: "Log out" }),
  tool(
    api_keys.create,
    "Create an API key; it goes to the person's secret store, and the answer names where.",
    { title: "Create API key" },
  ),
  tool(api_keys.delete, undefined, {
    title: "Delete API key",
    // The platform shows no key, so there is nothing to read.
    confirm: {
      reads: {},
      question: ({ keyId }) => `Delete API key ${quoted(keyId)}? What uses it stops working.`,
    },
  }),
  tool(users.list),
  tool(users.list_v1, undefined, { title: "List users, older form" }),
  tool(users.profile, undefined, { title: "Get own profile" }),
];
