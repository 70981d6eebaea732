/** A program that a host starts: what it is told goes to a socket, what comes from there it says. */
import { connect } from "node:net";

const socket = connect(String(process.argv[2]));
process.stdin.pipe(socket);
socket.pipe(process.stdout);
// Hosts wait for the end of what they have started.
process.stdin.on("end", () => {
  socket.destroySoon();
});
socket.on("close", () => {
  process.exit();
});
