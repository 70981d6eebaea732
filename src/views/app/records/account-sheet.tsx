import { plainText } from "../format.ts";
import { type Open, type Place, usePlace } from "../place.ts";
import { Finder } from "./finder.tsx";
import { RecordView } from "./record.tsx";
import { hasTool, useSession } from "../session.ts";
import { Entry } from "../ui/fields.tsx";
import { AccountOverview } from "../account/overview.tsx";
import { NoAccounts, Owing, OWING } from "../account/owing.tsx";

/** One customer: open documents, disputes, payments, credit and notes; another one can be looked up. */
export const AccountSheet = () => {
  const { opening } = useSession();
  const accountNumber = plainText(opening.args["account"]);
  const first: Place =
    accountNumber === "" ? {} : { record: { kind: "account", id: accountNumber } };
  const { place, go } = usePlace(first);
  const { record } = place;
  const open: Open = (next) => go({ record: next });
  const isFirst = record?.kind === "account" && record.id === accountNumber;
  return (
    <>
      {hasTool("find_records") ? (
        <Finder open={open} />
      ) : (
        <Entry
          label="Find an account"
          placeholder="Number or name"
          value={record?.kind === "account" ? record.id : ""}
          onChange={(text) => {
            if (text.trim() !== "") open({ kind: "account", id: text.trim() });
          }}
        />
      )}
      {record === undefined && hasTool(OWING) && <Owing open={open} />}
      {record === undefined && !hasTool(OWING) && (
        <main>
          <NoAccounts />
        </main>
      )}
      {record?.kind === "account" && (
        <AccountOverview
          key={record.id}
          account={record.id}
          first={isFirst ? opening.reply : undefined}
          open={open}
        />
      )}
      {record !== undefined && record.kind !== "account" && (
        <RecordView
          key={record.id}
          record={record}
          back={{ text: "Account sheet", go: () => go(first) }}
          open={open}
        />
      )}
    </>
  );
};
