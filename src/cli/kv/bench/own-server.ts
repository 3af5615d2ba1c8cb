import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ToolError } from '../../kit/errors.js';
import { EXIT_FAILED } from '../common/failure.js';
import type { ServerPlace } from '../common/server-place.js';
import { FREE_ADDRESS } from '../serve/command.js';
import type { ServeEvent } from '../serve/report.js';

/** A `kv serve` in a process of its own, for as long as this one lives. */
export interface OwnServer {
  readonly place: ServerPlace;
  stop(): void;
}

function isListening(event: ServeEvent): event is ServeEvent & { readonly event: 'listening' } {
  return event.event === 'listening';
}

/** @param args options of `kv serve` */
export async function startServer(args: readonly string[]): Promise<OwnServer> {
  const all = ['kv', 'serve', '--json', '--port', '0', '--addr', FREE_ADDRESS, ...args];
  // In a group of its own: Ctrl-C is for the bench, which tells what it has and then ends this one.
  const child = fork(process.argv[1], all, { detached: true, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  return { place: await placeOf(child), stop: () => void child.kill('SIGTERM') };
}

async function placeOf(child: ChildProcess): Promise<ServerPlace> {
  if (child.stdout === null) throw new Error('verbena: internal error: a pipe that is not there');
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [])])) as [string?];
  if (line === undefined) throw new ToolError('The server has ended at once.', EXIT_FAILED);
  // It is our own tool that says so.
  const event = JSON.parse(line) as ServeEvent;
  if (!isListening(event)) throw new Error(`verbena: internal error: a server says ${line} first`);
  return event.address;
}
