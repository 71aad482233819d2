#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Lightning over ccl: `torchrun --nproc-per-node=2 lightning_ccl.py`, or without torchrun, when
Lightning starts the second process itself."""

import lightning
import torch
import torch.distributed as dist
from lightning.pytorch.strategies import DDPStrategy


class Sum(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 1)
        self.losses = []

    def training_step(self, batch, _):
        inputs, wanted = batch
        loss = torch.nn.functional.mse_loss(self.layer(inputs), wanted)
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


def main():
    lightning.seed_everything(0)
    inputs = torch.randn(256, 16)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))
    module = Sum()
    trainer = lightning.Trainer(accelerator="cpu", devices=2, max_epochs=5, logger=False,
                                enable_checkpointing=False, enable_progress_bar=False,
                                strategy=DDPStrategy(process_group_backend="ccl"))
    trainer.fit(module, torch.utils.data.DataLoader(data, batch_size=16))
    assert module.losses[-1] < module.losses[0], module.losses
    if trainer.is_global_zero:
        print(f"{trainer.world_size} processes over {dist.get_backend()}: "
              f"loss {module.losses[0]:.3f} -> {module.losses[-1]:.3f}")


if __name__ == "__main__":
    main()
