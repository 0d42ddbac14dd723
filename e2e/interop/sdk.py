"""The official Python SDK against the demo, unchanged but for the base URL. Usage: sdk.py BASE_URL"""
import sys

from openai import OpenAI

client = OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
chat = {"model": "demo", "messages": [{"role": "user", "content": "Where will this request go, and why?"}]}

whole = client.chat.completions.create(**chat)
assert whole.choices[0].message.content and whole.choices[0].finish_reason == "stop", whole
assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens, whole

with client.chat.completions.stream(**chat, stream_options={"include_usage": True}) as stream:
    text = "".join(event.delta for event in stream if event.type == "content.delta")
    final = stream.get_final_completion()
assert text and text == final.choices[0].message.content, final
assert final.choices[0].finish_reason == "stop" and final.usage.completion_tokens > 0, final
assert "demo" in [model.id for model in client.models.list()]
print("openai for Python: a whole and a streamed chat")
