import { type Command } from 'commander';
import { pingPongCommand } from './pingpong/command.js';
import { UD_PINGPONG } from './pingpong/tools.js';

export function command(): Command {
  return pingPongCommand(UD_PINGPONG);
}
