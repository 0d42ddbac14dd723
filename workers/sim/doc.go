// Package sim is a worker that runs no model. Engine is a model of an inference engine on a clock that it is told:
// continuous batching, chunked prefill, a prefix cache. Start gives it a face: a real gRPC server in one of the three
// dialects, in real time, that answers as the real servicers do, down to what they leave out.
//
// # Faults
//
// A worker misbehaves on demand: Options.Faults names a file of JSON lines, Worker.SetFaults sets the same from a
// test. Each line is one Fault:
//
//	# the third request dies after two tokens, every tenth KV batch is lost
//	{"kind":"error","nth":3,"after":2,"code":"UNAVAILABLE","message":"out of luck"}
//	{"kind":"kv_drop","every":10}
//	{"kind":"delay","method":"GetLoads","for":"5s"}
//	{"kind":"loads","set":{"num_waiting_reqs":"-1","token_usage":"NaN"}}
//	{"kind":"stall","contains":"slow","after":1,"for":"2s"}
//
// When: every time, or only where "contains" is in the prompt (faults of answers), on the "nth" or "every" so manieth
// time that it matches, and at most so many "times". A fault of loads or KV events matches at each report, batch or
// look at the heartbeat's clock.
//
// Answers, after so many tokens ("after") of all choices together, 0 being before the first:
//
//	delay         waits "for" before the first token; with "method", before any other call's answer
//	token_delay   waits "for" before every further token
//	stall         stops there "for" a while, or until the caller leaves; with "method", in any other call
//	error         ends with "code" (UNAVAILABLE) and "message"; with "method", any other call
//	reset         breaks the connection
//	end           ends with status OK and no complete
//	finish        completes with "reason" in place of the true one; after 0: at the answer's own end
//	chunk         puts "n" tokens into a chunk
//	no_usage      leaves prompt, completion and cached tokens out
//	ignore_abort  does not know the request when an Abort comes
//	linger        keeps the stream open "for" a while after the last word
//	kill_core     kills the engine core, as KillCore does
//	restart       restarts the worker; "keep_sequence" lets the KV numbers go on
//
// Calls and loads:
//
//	unimplemented says UNIMPLEMENTED to "method"
//	unhealthy     HealthCheck says no
//	not_serving   the standard health service says no, and HealthCheck yes, as in a warm-up
//	no_loads      GetLoads lists no rank
//	stale_loads   GetLoads repeats the last load before the fault
//	loads         "set" overrides fields of every rank's entry, by their protobuf names
//	rank_count    GetLoads claims "n" ranks, whatever it lists
//	ranks         GetServerInfo claims "n" data-parallel ranks
//
// KV events:
//
//	kv_drop       loses a batch, whose number is used up
//	kv_gap        skips "n" numbers with nothing lost
//	kv_duplicate  sends a batch twice
//	kv_reorder    sends a batch after the next
//	kv_silent     sends no batch
//	kv_delay      sends a batch, and what comes after it, so much later ("for")
//	kv_end        ends the stream with "code" after so many batches
//	kv_fields     "set" overrides fields of stored and removed events, and of their blocks, by their protobuf names:
//	              {"tier":"2"} moves them to the host, {"parent_block_hash":"7"} orphans them
//	kv_block_size claims blocks of "n" tokens
//	no_heartbeat  sends no load record but on a batch
//	no_load_record sends no load record at all
//	snapshot_cut  ends the stream inside a snapshot, after so many chunks
//	snapshot_unknown says of a snapshot that "n" batches passed before its record began
//
// # Replies
//
// What the model says is a report of what happened to the request. Options.Replies names a file of JSON lines that
// knows better: the first whose "match" is in the prompt answers it with exactly "text".
//
//	{"match":"What is the weather","text":"It rains."}
package sim
