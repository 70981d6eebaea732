import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hold, type Turn } from "./demo/conversation.ts";
import { createClaimMail } from "./demo/conversations/claim-mail.ts";
import { createMonday } from "./demo/conversations/monday.ts";
import { createMonthEnd } from "./demo/conversations/month-end.ts";
import { renderMarkdown, renderMarkdownTable, renderTable, renderText } from "./demo/render.ts";
import { openSession, type Session } from "./demo/session.ts";
import { type Answered, answerTasks, createTasks } from "./demo/tasks/answer.ts";
import { tabulateTasks, TASKS_TITLE, describeTasks } from "./demo/tasks/table.ts";

type Writer = {
  begin: (server: Session["server"]) => string;
  conversation: (title: string) => string;
  turn: (turn: Turn) => string;
  tasks: (tasks: readonly Answered[]) => string;
};

const underline = (title: string): string => `\n${title}\n${"=".repeat(title.length)}\n`;

const text: Writer = {
  begin: ({ name, version, protocol, tools }) =>
    `A scripted MCP client works for an analyst of Demo Manufacturing Inc. No model is involved: every figure comes\nfrom the replies of ${name} ${version} (protocol ${protocol}, ${tools} tools), whose sizes are o200k tokens.\n`,
  conversation: underline,
  turn: (turn) =>
    `${renderText(turn, process.stdout.isTTY && process.env["NO_COLOR"] === undefined)}\n`,
  tasks: (tasks) =>
    `${underline(TASKS_TITLE)}\n${describeTasks(tasks)}\n\n${renderTable(tabulateTasks(tasks), "  ")}\n`,
};

const markdown: Writer = {
  begin: ({ version }) =>
    `# Conversations\n\nThree tasks of an analyst at Demo Manufacturing Inc., the demo tenant, from the first question to the result: a claim mail taken in, a month end, a Monday morning. A script asked the questions, called the tools and wrote this page from their replies (\`npm run -s demo -- --markdown\`, version ${version}). Below each question are the calls with the o200k tokens of their replies, and what the server asked before a change.\n`,
  conversation: (title) => `\n## ${title}\n`,
  turn: (turn) => `\n${renderMarkdown(turn)}\n`,
  tasks: (tasks) =>
    `\n## ${TASKS_TITLE}\n\n${describeTasks(tasks)}\n\n${renderMarkdownTable(tabulateTasks(tasks))}\n`,
};

const json: Writer = {
  begin: (server) => `${JSON.stringify({ server })}\n`,
  conversation: () => "",
  turn: (turn) => `${JSON.stringify(turn)}\n`,
  tasks: (tasks) => `${JSON.stringify({ tasks })}\n`,
};

const WRITERS: Record<string, Writer> = { "--json": json, "--markdown": markdown };

const print = (output: string): void => {
  process.stdout.write(output);
};

/** Holds the conversations on a data folder of their own, which is removed afterwards. */
const run = async (writer: Writer): Promise<void> => {
  const dataFolder = await mkdtemp(join(tmpdir(), "receivables-demo-"));
  try {
    const session = await openSession(dataFolder);
    try {
      print(writer.begin(session.server));
      const now = new Date();
      // Before the conversations, which change disputes.
      const tasks = await answerTasks(session, createTasks(now));
      for (const conversation of [createClaimMail(), createMonthEnd(now), createMonday(now)]) {
        print(writer.conversation(conversation.title));
        for await (const turn of hold(session, conversation)) print(writer.turn(turn));
      }
      print(writer.tasks(tasks));
    } finally {
      await session.close();
    }
  } finally {
    await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
  }
};

try {
  await run(WRITERS[process.argv[2] ?? ""] ?? text);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The demo failed: ${message}\n`);
  process.exitCode = 1;
}
