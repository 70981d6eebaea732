import { Explorer } from "./explorer/explorer.tsx";
import { startView } from "./start.tsx";

startView("payment-explorer", Explorer);
