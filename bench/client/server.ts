import { makeDispute } from "../dispute.ts";
import { announce, serveBare } from "../serving.ts";

// Answers a GET with as many disputes as its address ends with, made once; ends when its input does.
const one = JSON.stringify(makeDispute(0));
const many = JSON.stringify(Array.from({ length: 100 }, (_, index) => makeDispute(index)));

const { url, close } = await serveBare((request, response) => {
  response.setHeader("Content-Type", "application/json");
  response.setHeader("X-Request-Id", "request-1");
  response.end(request.url?.includes("PageSize") === true ? many : one);
});
announce({ url }, close);
