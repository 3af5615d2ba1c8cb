import { type Command } from 'commander';
import { tool, ToolError } from '../../kit/errors.js';
import { runClient } from './client.js';
import { rpingCommand, type RpingFlags } from './flags.js';
import { runServer } from './server.js';

/** What the C tool ends with when it does not understand its command line (EINVAL). */
const USAGE = 22;

async function rping(flags: RpingFlags): Promise<void> {
  const { s: server, c: client, a: address } = flags;
  if ((server === true) === (client === true)) {
    throw new ToolError('Give either -s, to be the server, or -c, to be the client.', USAGE);
  }
  if (server === true) return runServer(flags);
  if (address === undefined) throw new ToolError('A client needs the address of the server: give it by -a.', USAGE);
  return runClient(address, flags);
}

export function command(): Command {
  return rpingCommand().action(tool(rping));
}
