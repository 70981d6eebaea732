import { escapeControls } from "../../kit/text.ts";

/** Asks the person at the terminal. Questions go to stderr, because stdout is for results. */
export type Ask = {
  line(question: string): Promise<string>;
  /** The typed text is not displayed. */
  hidden(question: string): Promise<string>;
  choose(question: string, among: readonly { name: string; value: string }[]): Promise<string>;
};

export const terminalAsk: Ask = {
  async line(message) {
    const { input } = await import("@inquirer/prompts");
    return input({ message, required: true }, { output: process.stderr });
  },
  async hidden(message) {
    const { password } = await import("@inquirer/prompts");
    return password({ message }, { output: process.stderr });
  },
  async choose(message, among) {
    const { select } = await import("@inquirer/prompts");
    // Names of tenants come from the platform.
    const choices = among.map(({ name, value }) => ({ name: escapeControls(name), value }));
    return select({ message, choices }, { output: process.stderr });
  },
};
