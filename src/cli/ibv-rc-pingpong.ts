import { type Command } from 'commander';
import { pingPongCommand } from './pingpong/command.js';
import { RC_PINGPONG } from './pingpong/tools.js';

export function command(): Command {
  return pingPongCommand(RC_PINGPONG);
}
