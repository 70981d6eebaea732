/** The additions of a newcomer by the steps of CONTRIBUTING.md: an operation, an insight, a setting and an import format. */

/** Inserts `text` before the first `before` of a file; creates the file if `before` is absent. */
export type Edit = { file: string; before?: string; text: string };

/** An addition under the heading that lists its steps. */
export type Addition = { heading: string; edits: readonly Edit[] };

const OPERATION: readonly Edit[] = [
  {
    file: "src/contract/operations/business-units.ts",
    before: "import { tenantPath }",
    text: `import { RecordId } from "../fields.ts";\n`,
  },
  {
    file: "src/contract/operations/business-units.ts",
    before: "  list: {",
    text: `  get: {
    method: "GET",
    path: \`/creditappcore\${VALUES}/{businessUnitsId}\`,
    access: "Credit Applications : READ",
    summary: "Read one business unit grouping with its values.",
    params: z.object({ ...tenantPath, businessUnitsId: RecordId.describe("id of the grouping") }),
    output: BusinessUnitGrouping,
    audit: "business_unit.read",
  },
`,
  },
  {
    file: "src/platform/services/business-units.ts",
    before: "  list: async",
    text: `  get: async ({ params }, call) => {
    const rows = await listBusinessUnits(call.db, call.tenantId);
    const row = rows.find(({ id }) => id === params.businessUnitsId);
    if (row === undefined) return call.fail("not_found", "There is no such grouping.");
    return { body: toGrouping(row) };
  },
`,
  },
  {
    file: "tools/credit.ts",
    before: "  defineTool(business_units.list)",
    text: "  defineTool(business_units.get),\n",
  },
  {
    file: "test/support/samples.ts",
    before: `  "business_units.list"`,
    text: `  "business_units.get": [
    ({ application: { applicationId } }) => ({
      businessUnitsId: String(applicationId).replace("APP", "GROUP"),
    }),
  ],
`,
  },
  {
    file: "test/support/intents.tsv",
    before: "business_units_list\t",
    text: `business_units_get\tRead the business unit grouping with this id
business_units_get\tGet one business unit group and its values
business_units_get\tShow me business unit grouping G-7
`,
  },
];

const INSIGHT: readonly Edit[] = [
  {
    file: "src/insights/business-unit-count.ts",
    text: `import { z } from "zod";
import { contract } from "../contract/index.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { defineInsight } from "./insight.ts";

const { business_units } = contract;

/** Business unit groupings. */
export const businessUnitCount = defineInsight({
  name: "business_unit_count",
  title: "Count business units",
  input: z.strictObject({
    limit: z.int().min(1).max(200).default(20).meta({ description: "default 20" }),
  }),
  item: z.object({ displayName: z.string() }),
  needs: [business_units.list],
  async run({ call, now, skip }, { limit }) {
    const { output } = await call(business_units.list, {});
    const groupings = z.array(z.object({ displayName: z.string() })).parse(output);
    return {
      asOf: formatTimestamp(now()),
      filter: {},
      rowCount: groupings.length,
      truncated: false,
      currencyTotals: [],
      notes: [],
      itemsTotal: groupings.length,
      items: groupings.slice(skip, skip + limit),
    };
  },
});
`,
  },
  {
    file: "tools/insights.ts",
    before: "import { accountOverview }",
    text: `import { businessUnitCount } from "../src/insights/business-unit-count.ts";\n`,
  },
  {
    file: "tools/insights.ts",
    before: "];",
    text: `  defineInsightTool(businessUnitCount, "Count the groupings of business units, by name."),\n`,
  },
  {
    file: "tools/guide.ts",
    before: "};",
    text: `  business_unit_count: "how many groupings of business units there are",\n`,
  },
  {
    file: "tools/search-hints.ts",
    before: "  read_resource:",
    text: `  business_unit_count: "number of divisions, groupings",\n`,
  },
  {
    file: "test/support/intents.tsv",
    before: "find_records\t",
    text: `business_unit_count\tCount business unit groupings
business_unit_count\tBusiness unit count, please
business_unit_count\tHow large is the count of business unit groupings?
`,
  },
];

const SETTING: readonly Edit[] = [
  {
    file: "src/config/environment.ts",
    before: "  RECEIVABLES_TIME_ZONE:",
    text: `  RECEIVABLES_REGION: optional(Text, "region that operators give the server"),\n`,
  },
  {
    file: "src/config/config.ts",
    before: "  tenantId: env.RECEIVABLES_TENANT_ID",
    text: "  region: env.RECEIVABLES_REGION,\n",
  },
];

const IMPORT_FORMAT: readonly Edit[] = [
  {
    file: "src/platform/import/formats.ts",
    before: "} as const;",
    text: `  mt942: ["bank", "SWIFT MT942"],\n`,
  },
  {
    file: "src/platform/import/reading.ts",
    before: "  mt940: readMt940,",
    text: "  mt942: readMt940,\n",
  },
  {
    file: "src/platform/import/detect.ts",
    before: `  return type === "940"`,
    text: `  if (type === "942") return "mt942";\n`,
  },
];

export const ADDITIONS: readonly Addition[] = [
  { heading: "Add an operation", edits: OPERATION },
  { heading: "Add an insight", edits: INSIGHT },
  { heading: "Add a setting", edits: SETTING },
  { heading: "Add an import format", edits: IMPORT_FORMAT },
];
