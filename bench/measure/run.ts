/** Programs of perftest, in C by `verbena run` and our own of the same names. */
import { fileURLToPath } from 'node:url';
import { machineProblem } from '../../src/run/launcher/check.js';
import { freePort, outputOf, runTool, type Tool } from './tool.js';

export const PERFTEST: Tool = { program: 'ib_send_lat', advice: 'apt-get install perftest ibverbs-providers' };
export const DEVICES: Tool = { program: 'ibv_devices', advice: 'apt-get install ibverbs-utils ibverbs-providers' };

const TOOL = fileURLToPath(new URL('../../tools/main.js', import.meta.url));
const SERVER = '127.98.0.1';
const CLIENT = '127.98.0.2';
/** A server in the background, and its client once it listens. */
const BOTH = `
  port=$1 address=$2; shift 2
  "$@" -p "$port" >/dev/null &
  until grep -q ":$(printf %04X "$port") .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done
  "$@" -p "$port" "$address" && wait
`;

/** Why C programs cannot be run on this machine; undefined where they can. */
export const runProblem: string | undefined = machineProblem();

/** Whose programs, and how many NICs' processes there are. */
export type Players = 'one' | 'two' | 'ours';

export interface PerftestFigures {
  /** Of a latency test, µs one way. */
  readonly typicalUs: number;
  /** Of a bandwidth test, 10^9 bytes a second, and 10^6 messages. */
  readonly average: number;
  readonly rate: number;
}

export function parsePerftest(output: string): PerftestFigures {
  const line = output.split('\n').findLast((text) => /^\s*\d+\s+\d+\s+[\d.]+\s/.test(text));
  if (line === undefined) throw new Error(`no figures of perftest: ${output.trim().slice(-200)}`);
  const [, , , third = NaN, fourth = NaN] = line.trim().split(/\s+/).map(Number);
  return { typicalUs: fourth, average: (third * 2 ** 20) / 1e9, rate: fourth };
}

/** Has two of them play. */
export async function perftest(players: Players, program: string, args: readonly string[]): Promise<PerftestFigures> {
  const { execPath } = process;
  const inC = [program, '-x', '0', '-F', ...args];
  if (players === 'one') {
    const play = ['sh', '-c', BOTH, 'sh', `${await freePort()}`, SERVER, ...inC];
    return parsePerftest(await outputOf(execPath, [TOOL, 'run', '--addr', SERVER, '--', ...play]));
  }
  const command = (address: string, port: number, ...host: string[]): string[] =>
    players === 'two'
      ? [TOOL, 'run', '--addr', address, '--', ...inC, '-p', `${port}`, ...host]
      : [TOOL, program, '--addr', address, ...args, '-p', `${port}`, ...host];
  const output = await runTool({
    tool: { program: execPath, advice: '' },
    server: (port) => command(SERVER, port),
    client: (port) => command(CLIENT, port, SERVER),
    serverEnds: true,
  });
  return parsePerftest(output);
}

/** How long a program takes that does next to nothing, ms. */
export async function startUp(launched: boolean): Promise<number> {
  const { program } = DEVICES;
  const begun = performance.now();
  if (launched) await outputOf(process.execPath, [TOOL, 'run', '--addr', SERVER, '--', program]);
  else await outputOf('sh', ['-c', `${program} || true`]);
  return performance.now() - begun;
}
