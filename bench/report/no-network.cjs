// Loaded before each compared server: it reaches nothing outside, and a try fails as on a machine without a network.
const { Socket } = require("node:net");

Socket.prototype.connect = function connect() {
  return this.destroy(new Error("the network is off"));
};
