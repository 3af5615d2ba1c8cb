import { type Command } from 'commander';
import { pingPongCommand } from './command.js';
import { UC_PINGPONG } from './tools.js';

export function command(): Command {
  return pingPongCommand(UC_PINGPONG);
}
