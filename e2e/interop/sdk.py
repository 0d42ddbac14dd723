"""The official Python SDK and its helpers in a scripted conversation. Usage: sdk.py BASE_URL"""
import sys

from openai import LengthFinishReasonError, OpenAI, pydantic_function_tool
from pydantic import BaseModel

client = OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
chat = client.chat.completions


class weather(BaseModel):
    city: str
    days: int


class clock(BaseModel):
    city: str


class Person(BaseModel):
    name: str
    born: int
    tags: list[str]


tools = [pydantic_function_tool(weather), pydantic_function_tool(clock)]
asked = {"role": "user", "content": "What are the weather and the time in Oslo?"}


def ask(text, **more):
    return {"model": "demo", "messages": [{"role": "user", "content": text}], **more}


def streamed(**request):
    """What the stream helper makes of an answer, and its events by type."""
    events = {}
    with chat.stream(**request, stream_options={"include_usage": True}) as stream:
        for event in stream:
            events.setdefault(event.type, []).append(event)
        final = stream.get_final_completion()
    assert final.usage.total_tokens == final.usage.prompt_tokens + final.usage.completion_tokens > 0, final
    return final, events


def plain():
    whole = chat.create(**ask("Say hello"))
    assert whole.choices[0].message.content == "Hello, 世界 🙂!" and whole.choices[0].finish_reason == "stop", whole
    final, events = streamed(**ask("Say hello"))
    assert "".join(e.delta for e in events["content.delta"]) == final.choices[0].message.content == "Hello, 世界 🙂!", final
    assert events["content.done"][0].content == "Hello, 世界 🙂!", events
    assert "demo" in [model.id for model in client.models.list()] and client.models.retrieve("demo").id == "demo"


def tool_calls():
    def check(choice):
        one, two = choice.message.tool_calls
        assert choice.finish_reason == "tool_calls" and not choice.message.content, choice
        assert one.function.parsed_arguments == weather(city="Oslo 🙂", days=3), one
        assert two.function.parsed_arguments == clock(city="Oslo") and one.id != two.id, two
        assert choice.message.reasoning_content == "I need two facts: 天气.", choice
        return choice.message

    check(chat.parse(model="demo", messages=[asked], tools=tools).choices[0])
    final, events = streamed(model="demo", messages=[asked], tools=tools)
    message = check(final.choices[0])
    assert [e.name for e in events["tool_calls.function.arguments.done"]] == ["weather", "clock"], events
    results = [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in zip(message.tool_calls, ("18 degrees", "12:00"))]
    final, _ = streamed(model="demo", messages=[asked, message, *results], tools=tools)
    assert final.choices[0].message.content.strip() == "Oslo has 18 degrees, and it is noon there.", final
    assert final.choices[0].message.reasoning_content == "Both are in.", final


def structured_output():
    ada = Person(name="Ada", born=1815, tags=["math", "poetry 你好"])
    request = ask("Ada Lovelace as a record", response_format=Person)
    assert chat.parse(**request).choices[0].message.parsed == ada
    final, events = streamed(**request)
    assert final.choices[0].message.parsed == ada and events["content.done"][0].parsed == ada, final
    try:
        chat.parse(**request, max_tokens=3)
        raise AssertionError("an answer that was cut off is no record")
    except LengthFinishReasonError:
        pass


def logprobs_of_two_choices():
    request = ask("Say hello", n=2, logprobs=True, top_logprobs=2)
    whole, (final, events) = chat.create(**request), streamed(**request)
    for answer in (whole, final):
        assert [c.index for c in answer.choices] == [0, 1], answer
        for choice in answer.choices:
            tokens = choice.logprobs.content
            assert bytes(b for t in tokens for b in t.bytes).decode() == choice.message.content == "Hello, 世界 🙂!", choice
            assert all(len(t.top_logprobs) == 2 and t.logprob <= 0 for t in tokens), choice
    assert len(events["logprobs.content.done"]) == 2, events


for check in (plain, tool_calls, structured_output, logprobs_of_two_choices):
    for _ in range(3):  # once a dialect
        check()
    print("openai for Python:", check.__name__)
