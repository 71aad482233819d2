#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""A Trainer of transformers over ccl: `torchrun --nproc-per-node=2 transformers_ccl.py`.

Trains a tiny network that is made here: nothing is downloaded."""

import tempfile

import torch
import torch.distributed as dist
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


def main():
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, ddp_backend="ccl", use_cpu=True, max_steps=10,
                                      per_device_train_batch_size=4, learning_rate=1e-2,
                                      logging_steps=1, save_strategy="no", report_to=[],
                                      disable_tqdm=True)
        torch.manual_seed(0)
        model = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=1,
                                           n_head=2))
        tokens = torch.arange(16)
        data = [{"input_ids": tokens, "labels": tokens} for _ in range(64)]
        trainer = Trainer(model=model, args=arguments, train_dataset=data)
        trainer.train()
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        assert losses[-1] < losses[0], losses
        if dist.get_rank() == 0:
            print(f"{dist.get_world_size()} processes over {dist.get_backend()}: "
                  f"loss {losses[0]} -> {losses[-1]}")


if __name__ == "__main__":
    main()
