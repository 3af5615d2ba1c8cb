import { type Command } from 'commander';
import { pingPongCommand } from './command.js';
import { UD_PINGPONG } from './tools.js';

export function command(): Command {
  return pingPongCommand(UD_PINGPONG);
}
