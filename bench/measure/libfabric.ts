/** libfabric by the one benchmark that comes with it; its others, fabtests, are in no package of Debian's. */
import { type Measurement, repeat } from './measurement.js';
import { runTool, type Tool } from './tool.js';

export const PINGPONG: Tool = { program: 'fi_pingpong', advice: 'apt-get install libfabric-bin' };
/** Providers, each with the kind of endpoint that is quickest with it. */
export const PROVIDERS = { tcp: 'msg', shm: 'rdm' } as const;
export type Provider = keyof typeof PROVIDERS;

const USEC_COLUMN = 'usec/xfer';

/** It prints a line of titles, and below it the figures. @returns µs of a transfer */
export function parseFabric(output: string): number {
  const lines = output.trim().split('\n');
  const titles = lines.findIndex((line) => line.includes(USEC_COLUMN));
  const column = titles < 0 ? -1 : lines[titles].trim().split(/\s+/).indexOf(USEC_COLUMN);
  const us = Number(lines[titles + 1]?.trim().split(/\s+/)[column]);
  if (!(us > 0)) throw new Error(`no figures of libfabric: ${output.trim().slice(-200)}`);
  return us;
}

async function transferUs(provider: Provider, bytes: number, count: number): Promise<number> {
  const what = ['-p', provider, '-e', PROVIDERS[provider], '-I', `${count}`, '-S', `${bytes}`];
  return parseFabric(
    await runTool({
      tool: PINGPONG,
      server: (port) => [...what, '-B', `${port}`],
      client: (port) => [...what, '-P', `${port}`, '127.0.0.1'],
      serverEnds: true,
    }),
  );
}

/** µs one way of a message: the mean of a run, which is all that it prints. */
export async function fabricLatency(
  provider: Provider,
  bytes: number,
  count: number,
  times: number,
): Promise<Measurement> {
  return { samples: await repeat(times, () => transferUs(provider, bytes, count)) };
}

/** 10^9 bytes a second of a ping-pong, where one message is under way at a time. */
export async function fabricPingPongBandwidth(
  provider: Provider,
  bytes: number,
  count: number,
  times: number,
): Promise<Measurement> {
  return { samples: await repeat(times, async () => bytes / (await transferUs(provider, bytes, count)) / 1000) };
}
