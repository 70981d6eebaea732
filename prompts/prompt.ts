export type PromptArgument = {
  name: string;
  description: string;
  required: boolean;
  /** What the values are, for completions. */
  of?: "dispute" | "application" | "account";
  /** In characters, where it is more than a name. */
  longest?: number;
};

/** Instructions that a person starts by name. */
export type Prompt = {
  name: string;
  title: string;
  description: string;
  arguments: readonly PromptArgument[];
  /** The toolsets without which it makes no sense. */
  needs: readonly string[];
  /** Resources that come with it, so that the work starts with the facts at hand. */
  brings(args: Readonly<Record<string, string>>): string[];
  text(args: Readonly<Record<string, string>>): string;
};

export const definePrompt = (spec: Prompt): Prompt => spec;
