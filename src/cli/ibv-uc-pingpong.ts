import { type Command } from 'commander';
import { pingPongCommand } from './pingpong/command.js';
import { UC_PINGPONG } from './pingpong/tools.js';

export function command(): Command {
  return pingPongCommand(UC_PINGPONG);
}
