#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Makes a model with random weights, without a download: small_model.py {llama,moe} FOLDER.

llama: 8 layers of width 512, 27 million parameters; moe: 4 layers with 8 experts, 2 for each token.
Its words are "w3" and so on: the token of that number.
"""

import sys

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (LlamaConfig, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM,
                          PreTrainedTokenizerFast)

COMMON = {"vocab_size": 2048, "hidden_size": 512, "num_attention_heads": 8,
          "num_key_value_heads": 4, "max_position_embeddings": 1024, "bos_token_id": 1,
          "eos_token_id": 2, "tie_word_embeddings": False}
MODELS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(
        intermediate_size=1536, num_hidden_layers=8, **COMMON)),
    "moe": lambda: MixtralForCausalLM(MixtralConfig(
        intermediate_size=512, num_hidden_layers=4, num_local_experts=8, num_experts_per_tok=2,
        **COMMON)),
}


def tokenizer():
    words = {f"w{number}": number for number in range(COMMON["vocab_size"])}
    found = Tokenizer(models.WordLevel(words, unk_token="w0"))
    found.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=found, unk_token="w0", bos_token="w1",
                                   eos_token="w2")


def make(kind, folder):
    torch.manual_seed(7)
    model = MODELS[kind]().to(torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters())


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MODELS:
        sys.exit(__doc__)
    print(f"{sys.argv[2]}: {make(*sys.argv[1:]) / 1e6:.0f} million parameters")
