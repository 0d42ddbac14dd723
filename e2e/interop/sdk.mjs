// The official JavaScript SDK against the demo, unchanged but for the base URL. Usage: node sdk.mjs BASE_URL
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2] + "/v1", apiKey: "none", maxRetries: 0 });
const chat = { model: "demo", messages: [{ role: "user", content: "Where will this request go, and why?" }] };

const whole = await client.chat.completions.create(chat);
assert.ok(whole.choices[0].message.content);
assert.equal(whole.choices[0].finish_reason, "stop");

let text = "";
const stream = client.chat.completions.stream({ ...chat, stream_options: { include_usage: true } });
stream.on("content", (delta) => (text += delta));
const final = await stream.finalChatCompletion();
assert.ok(text);
assert.equal(final.choices[0].message.content, text);
assert.ok(final.usage.completion_tokens > 0);
console.log("openai for JavaScript: a whole and a streamed chat");
