import type { Choice, Choosing } from "./choose.ts";
import { categoriesOf } from "./kinds/configuration.ts";
import { EXPORTS } from "./kinds/exports.ts";
import type { Asked } from "./records.ts";

type Act = Pick<Asked<unknown>, "method" | "path" | "as" | "body">;

const INGEST = "/api/v1/ingest";

type Known = { id?: string };

const idOf = (records: readonly Known[]): string | undefined =>
  records.findLast(({ id }) => id !== undefined)?.id;

const act = (as: Act["as"], method: string, path: string, body?: object): Act => ({
  as,
  method,
  path,
  ...(body === undefined ? {} : { body }),
});

const listDisputeActs = ({ population, other, otherDisputeId }: Choosing): Act[] => {
  const disputes = `/dispute/v1/tenants/${population.tenantId}/disputes`;
  const dispute = `${disputes}/${idOf(other.disputes)}`;
  const notes = `${disputes}/${otherDisputeId}/disputenotes`;
  const files = `${disputes}/${otherDisputeId}/attachments`;
  return [
    act("gateway", "GET", dispute),
    act("gateway", "PUT", dispute, { amount: 77 }),
    act("gateway", "DELETE", dispute),
    act("gateway", "GET", notes),
    act("gateway", "POST", notes, { content: "a foreign note" }),
    act("gateway", "PUT", `${notes}/${idOf(other.notes)}`, { content: "a foreign note" }),
    act("gateway", "DELETE", `${notes}/${idOf(other.notes)}`),
    act("gateway", "POST", files, { fileName: "foreign.txt" }),
    act("gateway", "DELETE", `${files}/${idOf(other.files)}`),
  ];
};

const listExportActs = ({ world, other }: Choosing): Act[] => {
  const schedule = idOf(other.schedules);
  const webhook = `${EXPORTS}/webhooks/${idOf(other.webhooks)}`;
  const [host] = world.outside.names;
  return [
    act("export", "GET", `${EXPORTS}/export-runs/${schedule}/data`),
    act("export", "GET", `${EXPORTS}/export-runs/${schedule}/status`),
    act("export", "DELETE", `${EXPORTS}/schedules/${schedule}`),
    act("export", "GET", `${webhook}/deliveries`),
    act("export", "DELETE", webhook),
    act("export", "POST", `${EXPORTS}/webhooks`, {
      callbackUrl: `https://${host}/foreign`,
      scheduleId: schedule ?? "none",
    }),
  ];
};

/** Requests by the other tenant's path, and by numbers that it alone has. */
const listNamedActs = ({ other: { tenantId } }: Choosing): Act[] => {
  const categories = categoriesOf(tenantId);
  const account = `${INGEST}/accounts/${tenantId}-1`;
  const document = `${INGEST}/documents/${tenantId}-pdfs`;
  return [
    act("gateway", "GET", `/dispute/v1/tenants/${tenantId}/disputes`),
    act("gateway", "POST", categories, { code: "foreign", description: "a foreign category" }),
    act("gateway", "DELETE", `${categories}/by-code/category-0`),
    act("ingest", "GET", account),
    act("ingest", "PATCH", account, { phone: "77" }),
    act("ingest", "POST", `${account}/notes`, { reference: "foreign", body: "a foreign note" }),
    act("ingest", "GET", document),
    act("ingest", "PATCH", document, { denomination: 0 }),
    act("ingest", "POST", `${document}/closure`, { closure_reason: "paid" }),
  ];
};

/** A request to read, change or delete what the other tenant has, with the own key. */
export const chooseForeign = (choosing: Choosing): Choice => {
  const { dice } = choosing.world;
  const { tenantId } = choosing.population;
  const list = dice.pick([listDisputeActs, listExportActs, listExportActs, listNamedActs]);
  const asked = dice.pick(list(choosing));
  return {
    asked: { ...asked, effect: (after) => ({ status: 404, after }) },
    check(outcome) {
      if (outcome.kind === "answered" && outcome.status < 400) {
        const { method, path } = asked;
        throw new Error(`${tenantId} was answered ${outcome.status} for ${method} ${path}`);
      }
    },
  };
};
