"""A worker built on the published stubs (smg-grpc-proto), for checks of leeway as its client.

It answers every Generate with a fixed text, token by token as the servicer of its dialect does, and keeps what it was asked.
"""
import hashlib, io, json, pathlib, time, zipfile
from concurrent import futures

import grpc
from smg_grpc_proto.generated import common_pb2 as common
from smg_grpc_proto.generated import sglang_scheduler_pb2 as sglang, sglang_scheduler_pb2_grpc as sglang_grpc
from smg_grpc_proto.generated import tokenspeed_scheduler_pb2 as tokenspeed, tokenspeed_scheduler_pb2_grpc as tokenspeed_grpc
from smg_grpc_proto.generated import vllm_engine_pb2 as vllm, vllm_engine_pb2_grpc as vllm_grpc

DIALECTS = {
    "sglang": (sglang, sglang_grpc, "SglangScheduler"),
    "vllm": (vllm, vllm_grpc, "VllmEngine"),
    "tokenspeed": (tokenspeed, tokenspeed_grpc, "TokenSpeedScheduler"),
}
BLOCK = 16


class Worker:
    """Starts listening at once; `url` says where."""

    def __init__(self, dialect, tokenizer_dir, model, answer_ids):
        self.pb, grpc_module, service = DIALECTS[dialect]
        self.dialect, self.dir, self.model, self.answer = dialect, pathlib.Path(tokenizer_dir), model, answer_ids
        self.requests, self.calls, self.batches = [], [], []
        self.server = grpc.server(futures.ThreadPoolExecutor(16), options=[("grpc.max_receive_message_length", 256 << 20)])
        servicer = type("Servicer", (getattr(grpc_module, service + "Servicer"),), {
            name: self._noted(name) for name in
            ("Generate", "HealthCheck", "Abort", "GetModelInfo", "GetServerInfo", "GetLoads", "GetTokenizer", "SubscribeKvEvents")})
        getattr(grpc_module, f"add_{service}Servicer_to_server")(servicer(), self.server)
        self.url = f"grpc://127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def close(self):
        self.server.stop(0)

    def _noted(self, name):
        handler = getattr(self, name)

        def call(_, request, context):
            self.calls.append(name)
            return handler(request, context)
        return call

    def Generate(self, request, context):
        self.requests.append(request)
        pb, ids, prompt = self.pb, self.answer, len(request.tokenized.input_ids)
        cached = prompt // 2
        if request.stream:
            for n, token in enumerate(ids, 1):
                count = 1 if self.dialect == "vllm" else n
                yield pb.GenerateResponse(chunk=pb.GenerateStreamChunk(
                    token_ids=[token], prompt_tokens=prompt, completion_tokens=count, cached_tokens=cached))
        last = ids[-1:] if request.stream else ids
        yield pb.GenerateResponse(complete=pb.GenerateComplete(
            output_ids=last, finish_reason="stop", prompt_tokens=prompt, completion_tokens=len(last if self.dialect == "vllm" else ids),
            cached_tokens=cached))
        self.batches.append(prompt)

    def HealthCheck(self, request, context):
        return self.pb.HealthCheckResponse(healthy=True)

    def Abort(self, request, context):
        return self.pb.AbortResponse()

    def GetModelInfo(self, request, context):
        return self.pb.GetModelInfoResponse(
            model_path=str(self.dir), tokenizer_path=str(self.dir), served_model_name=self.model,
            max_context_length=8192, vocab_size=1 << 20, eos_token_ids=[], default_sampling_params_json='{"temperature": 0.5, "top_k": 7}')

    def GetServerInfo(self, request, context):
        return self.pb.GetServerInfoResponse(uptime_seconds=5)

    def GetLoads(self, request, context):
        return self.pb.GetLoadsResponse(dp_rank_count=1, version="fake", loads=[
            self.pb.SchedulerLoad(num_running_reqs=1, num_waiting_reqs=2, token_usage=0.25, gen_throughput=100)])

    def GetTokenizer(self, request, context):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
            for path in sorted(self.dir.iterdir()):
                if path.suffix in (".json", ".jinja", ".txt"):
                    bundle.write(path, path.name)
        data = data.getvalue()
        for at in range(0, len(data), 65536):
            last = at + 65536 >= len(data)
            yield common.GetTokenizerChunk(data=data[at:at + 65536], sha256=hashlib.sha256(data).hexdigest() if last else "")

    def SubscribeKvEvents(self, request, context):
        if request.start_sequence_number:
            context.abort(grpc.StatusCode.OUT_OF_RANGE, "no history")
        context.send_initial_metadata(())
        sequence = 0
        while context.is_active():
            while sequence < len(self.batches):
                tokens = list(self.requests[sequence].tokenized.input_ids)
                blocks = [common.KvBlock(block_hash=sequence << 16 | n, token_ids=tokens[n * BLOCK:(n + 1) * BLOCK], block_size=BLOCK)
                          for n in range(len(tokens) // BLOCK)]
                sequence += 1
                yield common.KvEventBatch(
                    sequence_number=sequence, timestamp=time.time(), dp_rank=0,
                    events=[common.KvCacheEvent(event_id=sequence, stored=common.KvBlocksStored(blocks=blocks, tier=1))],
                    load=common.EngineLoad(running_requests=1, token_usage=0.5, gen_throughput=50, sample=sequence))
            time.sleep(0.02)
