/** The ways in which a person confirmed a change that a tool made; `none`: no question was due. */
export const CONFIRMATION_WAYS = ["form", "view", "page", "token", "none"] as const;
export type ConfirmationWay = (typeof CONFIRMATION_WAYS)[number];

export const isConfirmationWay = (text: string): text is ConfirmationWay =>
  (CONFIRMATION_WAYS as readonly string[]).includes(text);
