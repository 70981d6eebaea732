import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { MISSING } from "../../broker/credentials.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import { randomId } from "../../kit/ids.ts";
import { isRecord } from "../../kit/json.ts";
import { systemWait } from "../../kit/wait.ts";
import { checkFilters } from "../../insights/dispute-names.ts";
import { adviseSearch } from "../../insights/run-insight.ts";
import { canFindNumbers, hasNumbers } from "../../insights/spellings.ts";
import {
  applyChanges,
  downloadFile,
  openClaims,
  uploadFile,
} from "../../../tools/dispute-operations.ts";
import { readResource } from "../../../tools/read-resource.ts";
import { isInsightTool, type Tool, type Remark } from "../../../tools/tool.ts";
import { act, storedSecretIn } from "./act.ts";
import { ignoredNote, listAnswer, listBudget, present, recordAnswer } from "../results/answer.ts";
import { type Purpose, toPurpose } from "./binding.ts";
import { withBound } from "./asking/bound.ts";
import { type Given, isGivenFor, readArguments } from "./arguments/arguments.ts";
import { type Consented, createConfirm } from "./asking/confirm.ts";
import type { Leave } from "./asking/leave.ts";
import { createCursors } from "./cursor.ts";
import { createDownload } from "./files/download.ts";
import { createUpload } from "./files/upload.ts";
import { createInsightCall } from "./insight-call.ts";
import { createHandOver, describeStored } from "./hand-over.ts";
import { asksAbout, isCreating, isPaged, needsExportKey } from "./listing/kinds.ts";
import { listInAnyCase, readByNumber } from "./arguments/known-numbers.ts";
import type { CallTool, Working, ToolContext } from "./tool-context.ts";
import { checkKnown } from "./arguments/unknown-names.ts";
import { checkTextUpdate } from "./text-update.ts";
import { createResourceCall, type ReadContent } from "./read-resource.ts";
import { createRunCall, type RunCall } from "./run-call.ts";
import { readList } from "../results/pages.ts";
import { chooseRows } from "../results/rows.ts";
import { formOf } from "../results/record-form.ts";
import { createSave } from "./saving/save.ts";
import { prepareList } from "./saving/save-list.ts";
import { resolveNames } from "./arguments/record-names.ts";
import { placeDaysFor, requireRelativeDays } from "./arguments/relative-days.ts";
import { askingOf } from "./asking/question.ts";
import { type Consent, createApply } from "./apply-disputes.ts";
import { createOpen } from "./open-disputes.ts";

type Called = Promise<CallToolResult | InputRequiredResult>;

/** A tool that takes several operations; undefined for the calls of others. */
const specialTool =
  <O extends Operation>(operation: O, run: (call: Working, given: Given<O>) => Called) =>
  (call: Working, given: Given): Called | undefined =>
    isGivenFor(given, operation) ? run(call, given) : undefined;

const createParts = (context: ToolContext) => {
  const { key, replayGuard, now, settings, caller, secretPages, wait = systemWait } = context;
  return {
    context,
    save: createSave(context),
    cursors: createCursors(key, now),
    confirm: createConfirm({ key, replayGuard, now, settings, approvals: context.approvals }),
    handOver: secretPages && createHandOver({ key, pages: secretPages, caller, now, wait }),
  };
};
type Parts = ReturnType<typeof createParts>;

const toClientPurpose = (
  context: ToolContext,
  { tool, client }: Working,
  { args, ifMatch }: Given,
): Purpose => ({ ...toPurpose(context, tool, { args, ifMatch }), client });

const NOT_IN_ANY_CASE =
  "This platform compares numbers in their letter case; capital and small letters were tried too.";

const NAMES_RECORD = /(?:account|document|invoice|payer)_?(?:number|name)/i;

/** Returns the filters of a list that name an account, a document or a payer. */
const listNamed = (args: Given["args"]): string[] => {
  const { filters } = args;
  const names = [...Object.keys(args), ...(isRecord(filters) ? Object.keys(filters) : [])];
  return names.filter((name) => NAMES_RECORD.test(name));
};

/** Says that a number may exist in a letter case that was not tried. */
const describeCase = async (
  { broker, signal }: Working,
  args: Given["args"],
): Promise<string[]> => {
  if (!hasNumbers(args)) return [];
  return canFindNumbers({ extensions: await broker.extensions(signal) }) ? [] : [NOT_IN_ANY_CASE];
};

const callList = async (
  parts: Parts,
  call: Working,
  { args, cursor, fields, save }: Given,
): Promise<CallToolResult> => {
  const { context, cursors } = parts;
  const { tool, signal, broker } = call;
  const purpose = toPurpose(context, tool, fields === undefined ? args : { ...args, fields });
  const from = cursor === undefined ? null : cursors.open(cursor, purpose);
  const at = from?.daysAt ?? context.now();
  const { args: placed, daysAt } = await placeDaysFor(call, context, { args, at });
  const rows = chooseRows(tool.operation, placed, fields);
  const options = { tool: tool.name, signal };
  const ask = (page: CallArguments) =>
    listInAnyCase({ broker, options }, page, (spelt) =>
      readByNumber({ broker, options }, spelt, (args) =>
        broker.call(tool.operation, args, options),
      ),
    );
  if (save !== undefined) {
    return parts.save(call, save, await prepareList(context, call, { rows, args, ask }));
  }
  const budget = listBudget(context.settings.answerTokens);
  const toForm = formOf(tool.operation);
  const shape = (row: Record<string, unknown>) => rows.shape(toForm(row));
  const bounds = { from, budget, now: context.now, shape };
  const read = await readList(tool.operation, rows.args, ask, bounds);
  const { position } = read;
  const isEmpty = from === null && position === null && read.items.length === 0;
  if (isEmpty) {
    checkKnown(tool, args);
    await checkFilters((operation, sent) => broker.call(operation, sent, options), args);
  }
  const days = daysAt === undefined ? {} : { daysAt };
  const next = position === null ? null : cursors.seal({ ...position, ...days }, purpose);
  const answer = listAnswer(tool.operation, read, next, args);
  if (!isEmpty) return present(answer);
  const notes = [...adviseSearch(listNamed(args)), ...(await describeCase(call, args))];
  return present({ ...answer, notes: [...answer.notes, ...notes] });
};

/** Whether a record does not exist; false if it cannot be read. */
const isAbsent = async (
  { broker, tool, signal }: Working,
  { operation, args }: Remark,
  given: Given["args"],
): Promise<boolean> => {
  try {
    await broker.call(operation, args(given), { tool: tool.name, signal });
    return false;
  } catch (error) {
    if (signal.aborted) throw error;
    return error instanceof Problem && error.status === 404;
  }
};

/** Returns the remarks on a call that was made: the records that it names and the platform does not have. */
const findRemarks = async (call: Working, args: Given["args"]): Promise<string[]> => {
  const remarks = await Promise.all(
    (call.tool.remarks ?? []).map(async (remark) =>
      (await isAbsent(call, remark, args)) ? [remark.text(args)] : [],
    ),
  );
  return remarks.flat();
};

/** Returns the arguments with those that the tool takes from records; without them where a record cannot be read. */
const fillArguments = async (
  { broker, tool, signal }: Working,
  sent: Given["args"],
): Promise<Given["args"]> => {
  let args: CallArguments = sent;
  for (const { argument, operation, ...filling } of tool.fills ?? []) {
    if (args[argument] !== undefined) continue;
    try {
      const { output } = await broker.call(operation, filling.args(args), {
        tool: tool.name,
        signal,
      });
      const value = isRecord(output) ? filling.value(output) : undefined;
      if (value !== undefined && value !== null) args = { ...args, [argument]: value };
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }
  return args;
};

/** Carries out the operation; a secret in its answer is stored and handed to the person. */
const callOne = async (
  { context, handOver }: Parts,
  call: Working,
  given: Given,
  { absent, confirmedBy }: Pick<Leave, "absent" | "confirmedBy">,
): Promise<CallToolResult | InputRequiredResult> => {
  const { tool, signal, broker } = call;
  const { operation, name } = tool;
  const { settings, newId = randomId } = context;
  const run = (args: CallArguments) =>
    act(broker, operation, args, {
      tool: name,
      signal,
      ifMatch: given.ifMatch,
      ...(absent ? { ifAbsent: true } : {}),
      ...(operation.effect === "read" ? {} : { confirmedBy }),
      idempotencyKey: isCreating(operation) ? (given.idempotencyKey ?? newId()) : undefined,
    });
  const { output, reply } =
    operation.effect === "read"
      ? await readByNumber({ broker, options: { tool: name, signal } }, given.args, run)
      : await run(given.args);
  const { answerTokens } = settings;
  const remarks = await findRemarks(call, given.args);
  const record = remarks.length === 0 ? output : { ...output, notes: remarks };
  const fitted = recordAnswer(record, {
    answerTokens,
    etag: reply.etag,
    brief: operation.brief,
  });
  const stored = storedSecretIn(operation, output);
  const notes = [...fitted.notes, ...ignoredNote(reply.ignoredFields)];
  if (stored !== undefined && handOver === undefined) notes.push(describeStored(stored.name));
  const answer = { ...fitted, notes };
  if (stored !== undefined && handOver !== undefined) {
    const purpose = toClientPurpose(context, call, given);
    const handed = await handOver.begin({ answer, stored, purpose, host: call.opens });
    return "ask" in handed ? handed.ask : present(handed.answer);
  }
  return present(answer, context.mcpUrl);
};

/** Asks the person the question about a call. */
const askPerson =
  ({ context, confirm }: Parts): Consent =>
  (call, given, prepareQuestion) =>
    confirm({
      prepare: prepareQuestion,
      open: call.tool.operation.upsert,
      purpose: toClientPurpose(context, call, given),
      ways: call,
      token: given.confirmationToken,
      call: {
        tool: call.tool.name,
        args: call.args,
        caller: context.caller,
        client: call.client,
      },
    });

/** Asks the person to confirm, if the call has effects that need it. */
const confirmCall = async (parts: Parts, call: Working, given: Given): Promise<Consented> => {
  const { tool, signal, broker } = call;
  const { args, ifMatch } = given;
  if (!asksAbout(tool, args)) {
    return { etag: null, absent: false, bound: {}, confirmedBy: "none" };
  }
  return askPerson(parts)(call, given, () =>
    askingOf({ broker, tool, args, options: { tool: tool.name, signal } }, ifMatch),
  );
};

/** Reads the arguments, with ids in place of codes. */
const readNamedArguments = async ({ tool, args, broker, signal }: Working): Promise<Given> => {
  const given = readArguments(tool, args);
  const options = { tool: tool.name, signal };
  return { ...given, args: await resolveNames({ broker, options }, given.args) };
};

/** @throws {Problem} if the platform does not have the operation, which is an addition to the documents */
const requireExtension = async ({ tool, broker, signal }: Working): Promise<void> => {
  const available = await broker.extensions(signal, true);
  if (available.has(tool.operation.id)) return;
  const message = [`This platform does not offer ${tool.name}.`, tool.instead ?? ""]
    .join(" ")
    .trim();
  throw new Problem("method_not_allowed", message);
};

/** @throws {Problem} if an argument is an addition to the documents that the platform does not announce */
const requireAdditions = async (
  { tool, broker, signal }: Working,
  { args }: Given,
): Promise<void> => {
  const { id, additions } = tool.operation;
  const sent = additions?.query.filter((name) => args[name] !== undefined) ?? [];
  if (additions === null || sent.length === 0) return;
  if ((await broker.extensions(signal, true)).has(`${id}.${additions.name}`)) return;
  const message = "is not known to this platform; leave it out";
  throw new Problem("invalid_request", `${sent.join(", ")} ${message}.`, {
    errors: sent.map((field) => ({ field, code: "unknown", message })),
  });
};

/** Adds the arguments that the tool sends by itself where the platform announces them. */
const addKnown = async ({ tool, broker, signal }: Working, given: Given): Promise<Given> => {
  const { id, additions } = tool.operation;
  if (additions?.always === undefined) return given;
  const isKnown = (await broker.extensions(signal)).has(`${id}.${additions.name}`);
  return isKnown ? { ...given, args: { ...given.args, ...additions.always } } : given;
};

const createCall = (context: ToolContext, readContent: ReadContent) => {
  const parts = createParts(context);
  const { handOver } = parts;
  const { lacksExportKey } = context.settings;
  const files = createDownload(context);
  const consent = askPerson(parts);
  const specialTools = [
    specialTool(uploadFile, createUpload(context)),
    specialTool(downloadFile, files.download),
    specialTool(contract.document_attachments.get, files.downloadOfDocument),
    specialTool(readResource, createResourceCall(readContent)),
    specialTool(applyChanges, createApply({ consent, context })),
    specialTool(openClaims, createOpen({ consent, context })),
  ];
  const callInsight = createInsightCall(context, {
    readExcerpt: files.excerpt,
    save: parts.save,
  });
  const callOperation = async (call: Working): Promise<CallToolResult | InputRequiredResult> => {
    const { operation } = call.tool;
    if (operation.extension) await requireExtension(call);
    const named = await readNamedArguments(call);
    await requireAdditions(call, named);
    await requireRelativeDays(call, named.args);
    const given = await addKnown(call, named);
    for (const callSpecial of specialTools) {
      const called = callSpecial(call, given);
      if (called !== undefined) return called;
    }
    if (isPaged(operation)) return callList(parts, call, given);
    const purpose = toClientPurpose(context, call, given);
    const earlier = handOver?.resume(call.opens, purpose);
    if (earlier !== undefined) return present(earlier);
    if (handOver?.needsPerson(operation) === true) {
      return (await handOver.invite(purpose, call.opens)).ask;
    }
    if (!asksAbout(call.tool, given.args)) await checkTextUpdate(call, given.args);
    const consented = await confirmCall(parts, call, given);
    if ("ask" in consented) return consented.ask;
    // The version that the question was about counts, not one that the model has sent.
    const args = await fillArguments(call, withBound(given.args, consented.bound));
    const ifMatch = consented.etag ?? given.ifMatch;
    return callOne(parts, call, { ...given, args, ifMatch }, consented);
  };
  return async (call: Working<Tool>): Promise<CallToolResult | InputRequiredResult> => {
    const { tool } = call;
    // Before arguments are checked and a person is asked: nothing of either would help.
    if (lacksExportKey === true && needsExportKey(tool)) throw MISSING.export();
    return isInsightTool(tool) ? callInsight({ ...call, tool }) : callOperation({ ...call, tool });
  };
};

const refuseResources: ReadContent = () =>
  Promise.reject(new Problem("not_found", "There are no resources here."));

/** Calls tools; every failure becomes a result that says what happened and what to do. */
export const createCallTool = (
  needs: ToolContext,
  run: RunCall = createRunCall(needs),
  readContent: ReadContent = refuseResources,
): CallTool => {
  const call = createCall(needs, readContent);
  return (request) => {
    const { tool, args, signal } = request;
    const called = { name: tool.name, tool, args, signal };
    return run(called, (broker) => call({ ...request, broker }));
  };
};
