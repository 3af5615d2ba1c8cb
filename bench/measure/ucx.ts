/** UCX by its own benchmark, over loopback TCP and over shared memory; and our UCP by ours, which takes the same words. */
import { fileURLToPath } from 'node:url';
import type { Measurement } from './measurement.js';
import { endedProgramsMs } from './processor-time.js';
import type { Way } from './rdma.js';
import { runTool, type Tool, type ToolRun } from './tool.js';

export const UCX: Tool = { program: 'ucx_perftest', advice: 'apt-get install ucx-utils' };

/** What `UCX_TLS` may name here. */
export type UcxTransport = 'tcp' | 'posix' | 'sysv';

export interface OwnUcp extends Way {
  readonly transport: 'rc' | 'ud';
}

export type UcxPlayer = UcxTransport | OwnUcp;

/** ucx_perftest's names of what is done. */
export type UcxTest = UcxLatencyTest | 'ucp_put_bw' | 'ucp_get' | 'ucp_am_bw';
export type UcxLatencyTest = 'tag_lat' | 'ucp_am_lat';

export interface Rounds {
  readonly count: number;
  readonly warmUp: number;
}

/** With many under way gets are many times quicker than by default; over TCP, more bytes than that stand in each other's way. */
const OUTSTANDING = 32;
const OUTSTANDING_BYTES = 1 << 22;
const NS_PER_MS = 1e6;
const PERCENTILE = 1;
const OVERALL_RATE = 7;

/** The last line of what `-f -v` prints: comma-separated, as the line of titles above it says. */
export function parseUcx(output: string): { readonly percentileUs: number; readonly perSecond: number } {
  const fields = (output.trim().split('\n').at(-1) ?? '').split(',').map(Number);
  if (fields.length <= OVERALL_RATE || fields.some(Number.isNaN))
    throw new Error(`ucx_perftest printed no figures: ${output.trim().slice(-200)}`);
  return { percentileUs: fields[PERCENTILE], perSecond: fields[OVERALL_RATE] };
}

const OWN_TOOL = fileURLToPath(new URL('../../tools/main.js', import.meta.url));
/** Addresses of this run alone, so that two runs at a time disturb each other's figures only. */
const NETWORK = `127.91.${process.pid % 256}`;
const [OWN_SERVER, OWN_CLIENT] = [`${NETWORK}.201`, `${NETWORK}.202`];

function commandsOf(player: UcxPlayer, what: readonly string[]): ToolRun {
  if (typeof player === 'string')
    return {
      tool: UCX,
      server: (port) => ['-p', `${port}`],
      client: (port) => ['127.0.0.1', '-p', `${port}`, ...what],
      // It spins by itself. Without a device it might choose another interface than the loopback.
      env: { UCX_TLS: player, UCX_NET_DEVICES: 'lo', UCX_LOG_LEVEL: 'error' },
      serverEnds: true,
    };
  const { host, link, transport } = player;
  const own = (address: string, port: number): string[] => [
    ...[OWN_TOOL, 'ucx_perftest', '--host', host, '--addr', address, '-p', `${port}`],
  ];
  return {
    tool: { program: process.execPath, advice: '' },
    server: (port) => own(OWN_SERVER, port),
    client: (port) => [...own(OWN_CLIENT, port), '--transport', transport, ...what, OWN_SERVER],
    env: { VERBENA_LINK: link },
    serverEnds: true,
  };
}

async function run(
  player: UcxPlayer,
  test: UcxTest,
  bytes: number,
  { count, warmUp }: Rounds,
  more: readonly string[],
): Promise<ReturnType<typeof parseUcx>> {
  const what = ['-t', test, '-s', `${bytes}`, '-n', `${count}`, '-w', `${warmUp}`, '-f', '-v', ...more];
  return parseUcx(await runTool(commandsOf(player, what)));
}

/** µs one way of a message. Each percentile is a run of its own; of a run the last 2,048 rounds count. */
export async function ucxLatency(
  player: UcxPlayer,
  bytes: number,
  rounds: Rounds,
  times: number,
  test: UcxLatencyTest = 'tag_lat',
): Promise<Measurement> {
  const at = async (rank: number): Promise<number> =>
    (await run(player, test, bytes, rounds, ['-R', `${rank}`])).percentileUs;
  const samples: number[] = [];
  for (let i = 0; i < times; i += 1) samples.push(await at(50));
  const [p99, p999] = [await at(99), await at(99.9)];
  return { samples, percentiles: { p50: [...samples].sort((a, b) => a - b)[samples.length >> 1], p99, p999 } };
}

/** Operations in a second, for each run, and the processor time of both sides. */
async function rates(
  player: UcxPlayer,
  test: UcxTest,
  bytes: number,
  rounds: Rounds,
  times: number,
): Promise<{ readonly perSecond: readonly number[]; readonly cpuNsPerByte: number }> {
  const before = endedProgramsMs();
  const perSecond: number[] = [];
  const outstanding = Math.max(1, Math.min(OUTSTANDING, Math.floor(OUTSTANDING_BYTES / bytes)));
  for (let i = 0; i < times; i += 1)
    perSecond.push((await run(player, test, bytes, rounds, ['-O', `${outstanding}`])).perSecond);
  const moved = times * bytes * (rounds.count + rounds.warmUp);
  return { perSecond, cpuNsPerByte: ((endedProgramsMs() - before) * NS_PER_MS) / moved };
}

/** 10^9 bytes a second. Its processor time includes that of starting. */
export async function ucxBandwidth(
  player: UcxPlayer,
  test: UcxTest,
  bytes: number,
  rounds: Rounds,
  times: number,
): Promise<Measurement> {
  const { perSecond, cpuNsPerByte } = await rates(player, test, bytes, rounds, times);
  return { samples: perSecond.map((rate) => (rate * bytes) / 1e9), cpuNsPerByte };
}

/** 10^6 messages of `bytes` a second; puts, if nothing else is said. */
export async function ucxRate(
  player: UcxPlayer,
  bytes: number,
  rounds: Rounds,
  times: number,
  test: 'ucp_put_bw' | 'ucp_am_bw' = 'ucp_put_bw',
): Promise<Measurement> {
  const { perSecond } = await rates(player, test, bytes, rounds, times);
  return { samples: perSecond.map((rate) => rate / 1e6) };
}
