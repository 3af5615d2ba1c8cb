import { type Command } from 'commander';
import { pingPongCommand } from './command.js';
import { SRQ_PINGPONG } from './tools.js';

export function command(): Command {
  return pingPongCommand(SRQ_PINGPONG);
}
