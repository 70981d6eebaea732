export type BusinessUnitRow = {
  tenant_id: string;
  id: string;
  display_name: string;
  /** Its values with their names, as JSON. */
  value_list: string;
};

/** A company's score at a time; the newest one counts. */
export type CompanyScoreRow = {
  tenant_id: string;
  company_id: string;
  as_of: number;
  /** As JSON. */
  fields: string;
};

export type CreditApplicationRow = {
  tenant_id: string;
  id: string;
  status_type: string;
  /** The time of the last change of status, and of the last read or change. */
  status_at: number;
  activity_at: number;
  /** Every value of a business unit that it names anywhere, as a JSON list. */
  unit_ids: string;
  /** JSON of the list entry. */
  summary: string;
  /** With its forms and answers, as JSON. */
  detail: string;
};

export type CreditTables = {
  business_units: BusinessUnitRow;
  company_scores: CompanyScoreRow;
  credit_applications: CreditApplicationRow;
};
