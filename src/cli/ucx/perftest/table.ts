import type { Figures } from './meter.js';
import { bytesOf, type Layout, type Plan } from './plan.js';

// What UCX's tool prints, to the column, since scripts read it.

const BOX_WIDTH = 106;
const LABEL_WIDTH = 14;
const BOX_RULE = `+${'-'.repeat(BOX_WIDTH)}+\n`;
const WIDTHS = [14, 14, 10, 9, 9, 10, 10, 11, 11];
const AVERAGES = [' average ', ' overall ', '  average ', '  overall ', '  average  ', '  overall  '];

function boxLine(label: string, value: string): string {
  return `| ${`${label} `.padEnd(LABEL_WIDTH)}${value}`.padEnd(BOX_WIDTH + 1) + '|\n';
}

function layoutText(layout: Layout): string {
  return layout === 'contig' ? '(automatic)' : layout;
}

/** What is to be done, in the server's words. */
export function boxText(plan: Plan): string {
  const { test, sendLayout, receiveLayout, headerBytes } = plan;
  const isOne = sendLayout === receiveLayout;
  const layout = isOne ? layoutText(sendLayout) : `${layoutText(sendLayout)}, ${layoutText(receiveLayout)}`;
  return [
    BOX_RULE,
    boxLine('API:', test.api === 'UCP' ? 'protocol layer' : 'transport layer'),
    boxLine('Test:', test.title),
    boxLine('Data layout:', layout),
    boxLine('Send memory:', 'host'),
    boxLine('Recv memory:', 'host'),
    boxLine('Message size:', String(bytesOf(plan))),
    ...(test.api === 'UCP' && test.family === 'am' && headerBytes > 0
      ? [boxLine('AM header size:', String(headerBytes))]
      : []),
    BOX_RULE,
  ].join('');
}

export interface TableStyle {
  readonly rank: number;
  readonly csv: boolean;
  readonly finalOnly: boolean;
  readonly numeric: boolean;
}

const CSV_NAMES = ['avg_lat', 'overall_lat', 'avg_bw', 'overall_bw', 'avg_mr', 'overall_mr'];

export function headText(figure: 'latency' | 'overhead', { rank, csv, finalOnly }: TableStyle): string {
  const percentile = rank.toFixed(1);
  if (csv) return `${['iterations', `${percentile}_percentile_lat`, ...CSV_NAMES].join(',')}\n`;
  const wide = `+${[14, 14, 30, 21, 23].map((width) => '-'.repeat(width)).join('+')}+\n`;
  const rule = `+${WIDTHS.map((width) => '-'.repeat(width)).join('+')}+\n`;
  const blank = ' '.repeat(14);
  const times = figure === 'latency' ? '        latency (usec)        ' : '       overhead (usec)        ';
  const stage = finalOnly ? '     Test     ' : '    Stage     ';
  const line = [stage, ' # iterations ', `${percentile}%ile `.padStart(10), ...AVERAGES].join('|');
  return [
    wide,
    `|${blank}|${blank}|${times}|   bandwidth (MB/s)  |  message rate (msg/s) |\n`,
    rule,
    `|${line}|\n`,
    rule,
  ].join('');
}

/** A row of the table. @param isFinal whether it is the last. @param extra written behind it */
export function rowText(figures: Figures, isFinal: boolean, style: TableStyle, extra = ''): string {
  const { iterations, latencyUs, bandwidthMiBs, messageRate } = figures;
  const { csv, numeric, finalOnly } = style;
  const written = (value: number, digits: number): string =>
    numeric
      ? value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
      : value.toFixed(digits);
  const cells: readonly (readonly [number, number, number])[] = [
    [iterations, 18, 0],
    [latencyUs.percentile, 10, 3],
    [latencyUs.average, 9, 3],
    [latencyUs.overall, 9, 3],
    [bandwidthMiBs.average, 11, 2],
    [bandwidthMiBs.overall, 10, 2],
    [messageRate.average, 11, 0],
    [messageRate.overall, 11, 0],
  ];
  if (csv)
    return `${isFinal ? '' : '[thread 0] '}${cells.map(([value, , digits]) => value.toFixed(digits)).join(',')}${extra}\n`;
  const finalName = finalOnly ? '' : 'Final:';
  const name = (isFinal ? finalName : '[thread 0]').padEnd(10);
  return `${name}${cells.map(([value, width, digits]) => written(value, digits).padStart(width)).join(' ')}${extra}\n`;
}
