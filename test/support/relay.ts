/** A program that a host starts: it connects stdin and stdout to a socket. */
import { connect } from "node:net";

const socket = connect(String(process.argv[2]));
process.stdin.pipe(socket);
socket.pipe(process.stdout);
// Hosts wait for the end of the process.
process.stdin.on("end", () => {
  socket.destroySoon();
});
socket.on("close", () => {
  process.exit();
});
