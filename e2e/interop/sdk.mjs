// The official JavaScript SDK and its helpers in a scripted conversation. Usage: node sdk.mjs BASE_URL
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2] + "/v1", apiKey: "none", maxRetries: 0 });
const chat = client.chat.completions;
const ask = (content, more) => ({ model: "demo", messages: [{ role: "user", content }], ...more });
const hello = "Hello, 世界 🙂!";

async function plain() {
  const whole = await chat.create(ask("Say hello"));
  assert.equal(whole.choices[0].message.content, hello);
  let text = "";
  const stream = chat.stream(ask("Say hello", { stream_options: { include_usage: true } }));
  stream.on("content", (delta) => (text += delta));
  const final = await stream.finalChatCompletion();
  assert.equal(text, hello);
  assert.equal(final.choices[0].message.content, hello);
  assert.equal(final.choices[0].finish_reason, "stop");
  assert.ok(final.usage.completion_tokens > 0);
}

async function tools() {
  for (const stream of [false, true]) {
    const called = [];
    const tool = (name, properties, result) => ({
      type: "function",
      function: {
        name, parameters: { type: "object", properties }, parse: JSON.parse,
        function: (given) => (called.push([name, given]), result),
      },
    });
    const runner = chat.runTools({
      stream, ...ask("What are the weather and the time in Oslo?"),
      tools: [
        tool("weather", { city: { type: "string" }, days: { type: "integer" } }, "18 degrees"),
        tool("clock", { city: { type: "string" } }, "12:00"),
      ],
    });
    assert.equal((await runner.finalContent()).trim(), "Oslo has 18 degrees, and it is noon there.");
    assert.deepEqual(called, [["weather", { city: "Oslo 🙂", days: 3 }], ["clock", { city: "Oslo" }]]);
    const [first] = runner.allChatCompletions();
    assert.equal(first.choices[0].finish_reason, "tool_calls");
    assert.equal(first.choices[0].message.tool_calls.length, 2);
    assert.equal(first.choices[0].message.reasoning_content, stream ? "." : "I need two facts: 天气."); // it keeps the last piece of what it does not know
  }
}

async function structuredOutput() {
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const request = ask("Ada Lovelace as a record", { response_format: { type: "json_schema", json_schema: { name: "person", schema } } });
  const ada = { name: "Ada", born: 1815, tags: ["math", "poetry 你好"] };
  assert.deepEqual(JSON.parse((await chat.parse(request)).choices[0].message.content), ada);
  const final = await chat.stream(request).finalChatCompletion();
  assert.deepEqual(JSON.parse(final.choices[0].message.content), ada);
}

async function logprobsOfTwoChoices() {
  const request = ask("Say hello", { n: 2, logprobs: true, top_logprobs: 2 });
  for (const answer of [await chat.create(request), await chat.stream(request).finalChatCompletion()]) {
    assert.deepEqual(answer.choices.map((c) => c.index), [0, 1]);
    for (const { message, logprobs } of answer.choices) {
      assert.equal(message.content, hello);
      assert.equal(Buffer.from(logprobs.content.flatMap((t) => t.bytes)).toString(), hello);
      assert.ok(logprobs.content.every((t) => t.top_logprobs.length === 2));
    }
  }
}

for (const check of [plain, tools, structuredOutput, logprobsOfTwoChoices]) {
  for (let i = 0; i < 3; i++) await check(); // once a dialect
  console.log("openai for JavaScript:", check.name);
}
