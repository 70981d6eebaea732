/** The scopes, with their descriptions on the consent page. None includes another. */
export const SCOPES = {
  read: {
    title: "See your data",
    description:
      "Look up disputes, their notes and files, credit applications, and everything else you may see.",
  },
  write: {
    title: "Change your data",
    description: "Add, change and delete disputes, their notes and files.",
  },
  admin: {
    title: "Change how it is set up",
    description: "Dispute configuration, recurring exports, webhooks and API keys.",
  },
} as const;

export type Scope = keyof typeof SCOPES;

const NAMES = Object.keys(SCOPES) as Scope[];

/** All scopes as the value of a `scope` parameter (RFC 6749, section 3.3). */
export const ALL_SCOPES = NAMES.join(" ");

/** Parameter that carries the scopes the client requested to the consent page. */
export const REQUESTED_SCOPE_PARAMETER = "asked_scope";

/** Returns the known scopes in a `scope` parameter, in the order of {@link SCOPES}. */
export const parseScopes = (parameter: unknown): Scope[] => {
  const names = typeof parameter === "string" ? parameter.split(" ") : [];
  return NAMES.filter((name) => names.includes(name));
};
