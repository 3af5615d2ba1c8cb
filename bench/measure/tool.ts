/** Other people's benchmarks, run as a server and a client on this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { adopt } from './children.js';

/** A program that may be installed or not. */
export interface Tool {
  readonly program: string;
  readonly advice: string;
}

export function isInstalled({ program }: Tool): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A server that has not begun to listen by then never will. */
const START_MS = 5000;
/** Nothing here takes as long, unless it hangs. */
const RUN_MS = 30_000;
const LOOK_MS = 10;
const TCP_LISTEN = '0A';

/** Whether somebody listens on a TCP port, asked without connecting: these servers take one client. */
function isListening(port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  return ['/proc/net/tcp', '/proc/net/tcp6'].some((table) =>
    readFileSync(table, 'latin1')
      .split('\n')
      .some((line) => line.includes(local) && line.trim().split(/\s+/)[3] === TCP_LISTEN),
  );
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port is free');
  return address.port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Runs a program to its end. @returns what it printed */
export async function outputOf(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS });
  adopt(child);
  let output = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === null) throw new Error(`${program} took longer than ${RUN_MS / 1000} s`);
  if (code !== 0) throw new Error(`${program} failed: ${complaint.trim().split('\n').at(-1) ?? String(code)}`);
  return output;
}

/** The two command lines of a run. */
export interface ToolRun {
  readonly tool: Tool;
  readonly server: (port: number) => readonly string[];
  readonly client: (port: number) => readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** The server ends by itself after one client. */
  readonly serverEnds: boolean;
}

/** A server of somebody else's, while it listens. */
export class ToolServer implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(
    child: ChildProcess,
    readonly port: number,
  ) {
    this.#child = child;
  }

  /** Starts it, and waits until it listens at the port. */
  static async start(
    program: string,
    args: readonly string[],
    port: number,
    env: NodeJS.ProcessEnv = process.env,
  ): Promise<ToolServer> {
    const child = spawn(program, args, { env, stdio: 'ignore' });
    adopt(child);
    const server = new ToolServer(child, port);
    try {
      const deadline = performance.now() + START_MS;
      while (!isListening(port)) {
        if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${program} does not listen`);
        await sleep(LOOK_MS);
      }
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Waits until it has ended by itself, but not for long. */
  async ended(): Promise<void> {
    if (this.#child.exitCode === null)
      await Promise.race([once(this.#child, 'exit'), sleep(START_MS, undefined, { ref: false })]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return end(this.#child);
  }
}

/** Runs both. @returns what the client printed */
export async function runTool({ tool, server, client, env = {}, serverEnds }: ToolRun): Promise<string> {
  const { program } = tool;
  const port = await freePort();
  const all = { ...process.env, ...env, LC_ALL: 'C' };
  await using serving = await ToolServer.start(program, server(port), port, all);
  const output = await outputOf(program, client(port), all);
  if (serverEnds) await serving.ended();
  return output;
}
