import { AccountSheet } from "./records/account-sheet.tsx";
import { startView } from "./start.tsx";

startView("account-sheet", AccountSheet);
