import { type Command } from 'commander';
import { pingPongCommand } from './command.js';
import { RC_PINGPONG } from './tools.js';

export function command(): Command {
  return pingPongCommand(RC_PINGPONG);
}
