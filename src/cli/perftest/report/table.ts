import type { Bandwidth } from '../bandwidth/bandwidth.js';
import type { Keys } from '../exchange/keys.js';
import type { Latency, LatencyOfDuration } from '../latency/latency.js';
import { type Verb, Verb as Verbs } from '../tests.js';

// Numbers as C's printf writes them, where the tables of the C tools depend on it.

/** As `%#0Wx`: with 0x within the width, but without for 0. */
export function prefixedHex(value: number | bigint, width: number): string {
  if (value === 0 || value === 0n) return '0'.padStart(width, '0');
  return `0x${value.toString(16).padStart(width - 2, '0')}`;
}

/** As `%-W.Df`. */
export function fixed(value: number, width: number, digits: number): string {
  return value.toFixed(digits).padEnd(width);
}

/** As `%-Wu`. */
export function whole(value: number, width: number): string {
  return String(value).padEnd(width);
}

const SIGNIFICANT = 6;

/** As `%g`, of 0 and from 0.0001 on: six digits that count, and no zeros after them. */
export function general(value: number): string {
  return value
    .toPrecision(SIGNIFICANT)
    .replace(/(\.\d*?)0+(?=e|$)/, '$1')
    .replace(/\.(?=e|$)/, '')
    .replace(/e([+-])(\d)$/, 'e$10$2');
}

// What the C tools print, to the column and to the tab, since scripts read it.

export const RULE = `${'-'.repeat(87)}\n`;

export const WAITING = ['', '*'.repeat(36), '* Waiting for client to connect... *', '*'.repeat(36), ''].join('\n');

export const LATENCY_HEADING =
  ' #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   ' +
  '99% percentile[usec]   99.9% percentile[usec] \n';

export const DURATION_HEADING = ' #bytes        #iterations       t_avg[usec]    tps average\n';

/** MB stands for 2^20 bytes there. */
export function bandwidthHeading(gbits: boolean): string {
  const unit = gbits ? 'Gb/sec' : 'MB/sec';
  return ` #bytes     #iterations    BW peak[${unit}]    BW average[${unit}]   MsgRate[Mpps]\n`;
}

/** A heading or a row with the column of `--cpu_util` at its end; undefined: that is not asked for. */
export function withCpu(line: string, column: number | string | undefined): string {
  if (column === undefined) return line;
  const text = typeof column === 'string' ? `    ${column}` : `\t    ${fixed(column, 3, 2)}`;
  return line.replace(/\n$/, `${text}\n`);
}

export const CPU_HEADING = 'CPU_Util[%]';

/** Below this many Gb/s two digits say too little. */
const SLOW_GBITS = 0.1;

export function bandwidthRow({ sizeBytes, iterations, peak, average, messageRate }: Bandwidth, gbits: boolean): string {
  if (gbits && average < SLOW_GBITS) {
    const figures = [peak, average, messageRate].map((figure) => fixed(figure, 7, 6));
    return ` ${whole(sizeBytes, 7)}    ${iterations}           ${figures.join('            ')}\n`;
  }
  const [most, mean] = [peak, average].map((figure) => fixed(figure, 7, 2));
  const rate = fixed(messageRate, 7, 6);
  return ` ${whole(sizeBytes, 7)}    ${whole(iterations, 10)}       ${most}            ${mean}\t\t   ${rate}\n`;
}

export function latencyRow(latency: Latency): string {
  const { sizeBytes, iterations, min, max, typical, average, deviation, percentile99, percentile999 } = latency;
  const [a, b, c, d, e, f, g] = [min, max, typical, average, deviation, percentile99, percentile999].map((figure) =>
    fixed(figure, 7, 2),
  );
  const start = ` ${whole(sizeBytes, 7)} ${iterations}          `;
  return `${start}${a}        ${b}      ${c}  \t       ${d}     \t${e}\t\t${f} \t\t${g}\n`;
}

export function durationRow({ sizeBytes, iterations, average, perSecond }: LatencyOfDuration): string {
  const figures = `${fixed(average, 7, 2)}        ${fixed(perSecond, 7, 2)}`;
  return ` ${whole(sizeBytes, 7)}       ${iterations}            ${figures}\n`;
}

/** What follows the numbers of a queue pair, by what the test does. */
function memoryText(verb: Verb | undefined, { outReads, rkey, addr }: Keys): string {
  const memory = ` RKey ${prefixedHex(rkey, 8)} VAddr ${prefixedHex(addr, 16)}`;
  if (verb === Verbs.WRITE) return memory;
  return verb === Verbs.READ ? ` OUT ${prefixedHex(outReads, 4)}${memory}` : '';
}

/**
 * The two lines that say what one side has told the other of a queue pair.
 *
 * @param verb undefined: without memory, as the C tools print keys that went by rdma_cm
 */
export function keyLines(side: 'local' | 'remote', keys: Keys, verb: Verb | undefined, isXrc: boolean): string {
  const { lid, qpn, psn, srqn, gid } = keys;
  const numbers = `LID ${prefixedHex(lid, 4)} QPN ${prefixedHex(qpn, 6)} PSN ${prefixedHex(psn, 6)}`;
  const queue = isXrc ? ` SRQn ${prefixedHex(srqn, 8)}` : '';
  const octets = [...gid].map((byte) => String(byte).padStart(2, '0')).join(':');
  return ` ${side} address: ${numbers}${memoryText(verb, keys)}${queue}\n GID: ${octets}\n`;
}
