import { type Command } from 'commander';
import { pingPongCommand } from './pingpong/command.js';
import { SRQ_PINGPONG } from './pingpong/tools.js';

export function command(): Command {
  return pingPongCommand(SRQ_PINGPONG);
}
