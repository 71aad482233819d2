#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Generates tokens with vLLM on CPUs, and says how fast: generate.py MODEL [--tp 2] [--pp 2] ...

With tutti-ccl installed the workers communicate over ccl; TUTTI_VLLM=0 leaves that to vLLM. The
last line is JSON, with the tokens of each prompt and their logarithms of probability.

Several hosts: the same command on each, with --nnodes, --node-rank and --master HOST:PORT. The
first alone has an engine; the others have workers, as of `vllm serve --headless`.
"""

import argparse
import json
import os
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a folder with a model, such as small_model.py makes")
    parser.add_argument("--tp", type=int, default=1, help="ranks that share each layer")
    parser.add_argument("--pp", type=int, default=1, help="stages, each with some layers")
    parser.add_argument("--ep", action="store_true", help="whole experts on each rank")
    parser.add_argument("--compile", action="store_true", help="compile the graph; vLLM 0.32's "
                        "stages need that")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--prompt-tokens", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64, help="tokens generated for each prompt")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nnodes", type=int, default=1)
    parser.add_argument("--node-rank", type=int, default=0)
    parser.add_argument("--master", default="127.0.0.1:29501")
    return parser.parse_args()


def serve_workers(engine):
    from vllm import EngineArgs
    from vllm.v1.executor.multiproc_executor import MultiprocExecutor

    config = EngineArgs(**engine).create_engine_config(headless=True)
    MultiprocExecutor(config, monitor_workers=False).start_worker_monitor(inline=True)


def main():
    args = arguments()
    address, port = args.master.rsplit(":", 1)
    engine = {"model": args.model, "skip_tokenizer_init": True, "dtype": args.dtype, "seed": 0,
              "max_model_len": 512, "enforce_eager": not args.compile,
              "tensor_parallel_size": args.tp, "pipeline_parallel_size": args.pp,
              "enable_expert_parallel": args.ep, "enable_prefix_caching": False,
              "gpu_memory_utilization": 0.1}
    if args.nnodes > 1:
        engine |= {"nnodes": args.nnodes, "node_rank": args.node_rank, "master_addr": address,
                   "master_port": int(port)}
    if args.node_rank > 0:
        return serve_workers(engine)
    from vllm import LLM, SamplingParams

    llm = LLM(**engine)
    prompts = [{"prompt_token_ids": [3 + (17 * i + 5 * j) % 2000
                                     for j in range(args.prompt_tokens)]}
               for i in range(args.prompts)]

    def generate(tokens):
        parameters = SamplingParams(temperature=0.0, max_tokens=tokens, min_tokens=tokens,
                                    ignore_eos=True, detokenize=False, logprobs=1)
        start = time.perf_counter()
        outputs = llm.generate(prompts, parameters, use_tqdm=False)
        return time.perf_counter() - start, [output.outputs[0] for output in outputs]

    generate(4)  # what is done once, such as finding the way for each kind of call
    first, whole, outputs = [], [], []
    for _ in range(args.rounds):
        first.append(generate(1)[0])
        seconds, outputs = generate(args.tokens)
        whole.append(seconds)
    best = min(whole)
    result = {
        "tokens_per_second": round(args.prompts * args.tokens / best, 1),
        "ms_between_tokens": round(1e3 * (best - min(first)) / max(args.tokens - 1, 1), 2),
        "rounds": [round(args.prompts * args.tokens / seconds, 1) for seconds in whole],
        "tokens": [list(output.token_ids) for output in outputs],
        "logprobs": [[round(place[token].logprob, 4) for token, place in
                      zip(output.token_ids, output.logprobs)] for output in outputs],
        "switch": os.environ.get("TUTTI_VLLM", ""),
    }
    print(json.dumps(result), flush=True)
    if int(os.environ.get("VLLM_DP_SIZE", "1")) > 1:
        time.sleep(10)  # another engine's last steps need this one


if __name__ == "__main__":
    main()
