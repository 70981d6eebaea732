import { AccountSheet } from "./account/sheet.tsx";
import { startView } from "./start.tsx";

startView("account-sheet", AccountSheet);
