import { z } from "zod";
import {
  ageDays,
  aging,
  duplicates,
  heldByInactive,
  nameOf,
  type Pair,
  totals,
  unassignedAndOld,
} from "./analysis.ts";
import { Configuration, Dispute, Lists } from "./records.ts";
import type { Session } from "./session.ts";
import type { Transcript } from "./transcript.ts";
import { accountOf, count, money, moneys } from "./words.ts";

/** The context of every step. */
export type Work = { session: Session; out: Transcript; now: number };

const GUIDE = "receivables://guide";
const CONFIGURATION = "receivables://dispute-configuration";

export const connected = ({ session, out }: Work): void => {
  out.begin("connect", "Connect, as a desktop host would");
  const { name, version, protocol, tools } = session.server;
  out.say(`${name} ${version} over stdio, protocol ${protocol}, ${count(tools, "tool")}.`);
  out.result(session.server);
  out.end();
};

export const readGuide = async ({ session, out }: Work): Promise<void> => {
  out.begin("guide", "Read the guide that the server gives a model");
  const guide = await session.read(GUIDE);
  const headings = guide.split("\n").flatMap((line) => /^#+ (.+)$/.exec(line)?.[1] ?? []);
  const [title, ...sections] = headings;
  if (title !== undefined) out.say(`${title}. It has words on: ${sections.join(", ")}.`);
  out.result({ characters: guide.length, headings });
  out.end();
};

const readLists = async ({ session }: Work, uri: string): Promise<Lists> =>
  Lists.parse(JSON.parse(await session.read(uri)));

/** All of it at once; what did not fit into one answer, by itself. */
const configurationOf = async (work: Work): Promise<Configuration> => {
  const lists = await readLists(work, CONFIGURATION);
  const cut = Object.keys(lists).filter((noun) => lists[noun]?.truncated === true);
  for (const noun of cut) Object.assign(lists, await readLists(work, `${CONFIGURATION}/${noun}`));
  return Configuration.parse(
    Object.fromEntries(Object.entries(lists).map(([noun, { items }]) => [noun, items])),
  );
};

export const readConfiguration = async (work: Work): Promise<Configuration> => {
  const { out } = work;
  out.begin("configuration", "Learn how this company sorts its disputes");
  const known = await configurationOf(work);
  const { categories, reasons, departments, assignees, resolutions } = known;
  out.table(
    ["Category", "Reasons"],
    categories.map(({ categoryId, description }) => [
      description,
      reasons.flatMap((reason) => (reason.categoryId === categoryId ? reason.code : [])).join(", "),
    ]),
  );
  out.say("");
  out.table(
    ["Department", "People"],
    departments.map(({ departmentId, description }) => [
      description,
      assignees
        .filter((one) => one.departmentId === departmentId)
        .map((one) => (one.active ? nameOf(one) : `${nameOf(one)} (inactive)`))
        .join(", "),
    ]),
  );
  out.result({
    categories: categories.length,
    reasons: reasons.length,
    departments: departments.length,
    assignees: assignees.length,
    resolutions: resolutions.map(({ code }) => code),
  });
  out.end();
  return known;
};

export const OPEN = {
  Status: ["Open"],
  Sort: "CreateDate",
  fields: Object.keys(Dispute.shape),
};

export const listOpen = async ({ session, out, now }: Work): Promise<Dispute[]> => {
  out.begin("open-disputes", "List the open disputes, oldest first");
  const { items, pages } = await session.all("disputes_list", { ...OPEN }, Dispute);
  const buckets = aging(items, now);
  out.say(`${count(items.length, "open dispute")} in ${count(pages, "answer")}.`);
  out.table(
    ["Age", "Disputes", "Amount"],
    [
      ...buckets.map((bucket) => [bucket.bucket, bucket.count, moneys(bucket.totals)]),
      ["all", items.length, moneys(totals(items))],
    ],
    [1],
  );
  out.result({ open: items.length, pages, totals: totals(items), aging: buckets });
  out.end();
  return items;
};

export type Picks = { unassigned: Dispute[]; orphaned: Dispute[]; pairs: Pair[] };

const SHOWN = 5;

const showDisputes = ({ out, now }: Work, sentence: string, disputes: readonly Dispute[]): void => {
  out.say("");
  out.say(`${count(disputes.length, "dispute")} ${sentence}:`);
  out.table(
    ["Dispute", "Account", "Reason", "Age", "Amount"],
    disputes
      .slice(0, SHOWN)
      .map((one) => [
        one.disputeCode,
        accountOf(one),
        one.reasonName,
        `${ageDays(one, now)} d`,
        money(one),
      ]),
    [3, 4],
  );
  if (disputes.length > SHOWN) out.say(`... and ${disputes.length - SHOWN} more.`);
};

const codes = (disputes: readonly Dispute[]): string[] => disputes.map((one) => one.disputeCode);

export const pick = (work: Work, open: readonly Dispute[], known: Configuration): Picks => {
  const { out, now } = work;
  out.begin("picks", "Find what nobody is working on");
  const unassigned = unassignedAndOld(open, now);
  const orphaned = heldByInactive(open, known.assignees);
  const pairs = duplicates(open);
  out.say("The largest first, each in its own currency.");
  const again = pairs.map((pair) => pair.again);
  showDisputes(work, "that nobody has had for over 30 days", unassigned);
  showDisputes(work, "with somebody who is inactive", orphaned);
  showDisputes(work, "for a document, amount and reason that was disputed before", again);
  out.result({
    unassigned: codes(unassigned),
    orphaned: codes(orphaned),
    duplicates: pairs.map(({ kept, again }) => [kept.disputeCode, again.disputeCode]),
  });
  out.end();
  return { unassigned, orphaned, pairs };
};

/** An answer whose fields are not read. */
export const Anything = z.looseObject({});
