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

const isScope = (name: string): name is Scope => Object.hasOwn(SCOPES, name);

/** Those of a request's scopes that are ours, in their order of weight. */
export const scopesIn = (asked: unknown): Scope[] => {
  const names = typeof asked === "string" ? asked.split(" ") : [];
  return Object.keys(SCOPES).filter((name): name is Scope => isScope(name) && names.includes(name));
};
