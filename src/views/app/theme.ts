import type { McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import { setLocale } from "./format.ts";

/** Applies theme, style variables, language and time zone of the host. */
export const applyContext = ({ theme, styles, locale, timeZone }: McpUiHostContext): void => {
  const root = document.documentElement;
  if (theme !== undefined) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (value !== undefined) root.style.setProperty(name, value);
  }
  if (locale !== undefined || timeZone !== undefined) setLocale(locale, timeZone);
};
