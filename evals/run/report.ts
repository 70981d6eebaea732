import Table from "cli-table3";
import type { Result } from "./benchmark.ts";

const sum = (results: readonly Result[], field: "calls" | "tokens" | "errors"): number =>
  results.reduce((total, one) => total + one[field], 0);

/** Formats passed tasks, calls, tokens and errors of each kind. */
export const formatTable = (results: readonly Result[]): string => {
  const table = new Table({
    head: ["kind", "tasks", "passed", "calls", "tokens", "errors"],
    style: { head: [], border: [] },
  });
  const groups = [...Map.groupBy(results, ({ kind }) => kind as string), ["all", results] as const];
  for (const [kind, list] of groups) {
    const passed = list.filter((one) => one.passed).length;
    const figures = [sum(list, "calls"), sum(list, "tokens"), sum(list, "errors")];
    table.push([kind, list.length, passed, ...figures]);
  }
  return table.toString();
};

/** Formats a failed task with its transcript. */
export const formatFailure = ({ task, transcript: { calls, answer, faults } }: Result): string =>
  [
    `${task}: ${faults.join(" ")}`,
    ...calls.map(
      (call) => `  ${call.name} ${JSON.stringify(call.arguments)}${call.isError ? " (error)" : ""}`,
    ),
    `  Answer: ${answer}`,
  ].join("\n");
