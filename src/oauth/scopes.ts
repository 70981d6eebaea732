/** What may be asked for, and how a person is told of it. None includes another. */
export const SCOPES = {
  read: {
    title: "See your data",
    words:
      "Look up disputes, their notes and files, credit applications, and whatever else you may see.",
  },
  write: {
    title: "Change your data",
    words: "Add, change and delete disputes, their notes and files.",
  },
  admin: {
    title: "Change how it is set up",
    words: "Dispute configuration, recurring exports, webhooks and API keys.",
  },
} as const;

export type Scope = keyof typeof SCOPES;

export const EVERY_SCOPE = Object.keys(SCOPES).join(" ");

/** What a client asked for, in the parameter that carries it to the page on which a person chooses. */
export const ASKED = "asked_scope";

const isScope = (name: string): name is Scope => Object.hasOwn(SCOPES, name);

/** Those of a request's scopes that are ours, in their order of weight. */
export const scopesIn = (asked: unknown): Scope[] => {
  const names = typeof asked === "string" ? asked.split(" ") : [];
  return Object.keys(SCOPES).filter((name): name is Scope => isScope(name) && names.includes(name));
};

/**
 * A request to authorize as it is put to the person: they may allow more than was asked for, so that hosts that ask once,
 * and for little, can be given what they need. A request for nothing in particular is one to read.
 */
export const offerEvery = (parameters: URLSearchParams): void => {
  const names = (parameters.get("scope") ?? "read").split(" ");
  const asked = scopesIn(names.join(" "));
  parameters.set(ASKED, asked.join(" "));
  if (asked.length === 0) return;
  parameters.set("scope", [...new Set([...names, ...EVERY_SCOPE.split(" ")])].join(" "));
};
