/** Plain sockets in C, by qperf. */
import { type Measurement, repeat } from './measurement.js';
import { runTool, type Tool } from './tool.js';

export const QPERF: Tool = { program: 'qperf', advice: 'apt-get install qperf' };

export type QperfTest = 'tcp_lat' | 'udp_lat' | 'tcp_bw';

const UNITS: Readonly<Record<string, number | undefined>> = {
  ns: 1e-9,
  us: 1e-6,
  ms: 1e-3,
  'bytes/sec': 1,
  'KB/sec': 1e3,
  'MB/sec': 1e6,
  'GB/sec': 1e9,
};

/** It chooses units by itself. @returns the value of `name`, in seconds or bytes a second */
export function parseQperf(output: string, name: string): number {
  const found = new RegExp(String.raw`${name}\s*=\s*([\d.,]+)\s*(\S+)`).exec(output);
  const scale = found === null ? undefined : UNITS[found[2]];
  if (found === null || scale === undefined) throw new Error(`no figures of qperf: ${output.trim().slice(-200)}`);
  return Number(found[1].replaceAll(',', '')) * scale;
}

async function run(test: QperfTest, bytes: number, seconds: number, name: string): Promise<number> {
  const output = await runTool({
    tool: QPERF,
    server: (port) => ['-lp', `${port}`],
    client: (port) => ['127.0.0.1', '-lp', `${port}`, '-t', `${seconds}`, '-m', `${bytes}`, test],
    serverEnds: false,
  });
  return parseQperf(output, name);
}

/** µs one way: the mean of a run. */
export async function qperfLatency(
  test: 'tcp_lat' | 'udp_lat',
  bytes: number,
  seconds: number,
  times: number,
): Promise<Measurement> {
  return { samples: await repeat(times, async () => (await run(test, bytes, seconds, 'latency')) * 1e6) };
}

/** 10^9 bytes a second. */
export async function qperfBandwidth(bytes: number, seconds: number, times: number): Promise<Measurement> {
  return { samples: await repeat(times, async () => (await run('tcp_bw', bytes, seconds, 'bw')) / 1e9) };
}
