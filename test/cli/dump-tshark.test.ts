import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LinkType, pcapngHeader, pcapngPacket, readCapture } from '../../src/wire/index.js';
import { goldenFile, goldenNames } from '../wire/golden.js';

/** A field as tshark calls it, and where our JSON has it; the first place that is there counts. */
const FIELDS: readonly (readonly [tshark: string, ...json: string[]])[] = [
  ['frame.number', 'number'],
  ['infiniband.bth.opcode', 'bth.opcode'],
  ['infiniband.bth.se', 'bth.solicited'],
  ['infiniband.bth.m', 'bth.migReq'],
  ['infiniband.bth.padcnt', 'bth.padCount'],
  ['infiniband.bth.tver', 'bth.tver'],
  ['infiniband.bth.p_key', 'bth.pkey'],
  ['infiniband.bth.destqp', 'bth.destQp'],
  ['infiniband.bth.a', 'bth.ackRequest'],
  ['infiniband.bth.psn', 'bth.psn'],
  ['infiniband.deth.q_key', 'deth.qkey'],
  ['infiniband.deth.srcqp', 'deth.sourceQp'],
  ['infiniband.reth.va', 'reth.va', 'atomicEth.va'],
  ['infiniband.reth.r_key', 'reth.rkey', 'atomicEth.rkey'],
  ['infiniband.reth.dmalen', 'reth.length'],
  ['infiniband.atomiceth.swapdt', 'atomicEth.swap'],
  ['infiniband.atomiceth.cmpdt', 'atomicEth.compare'],
  ['infiniband.aeth.syndrome', 'aeth.syndrome'],
  ['infiniband.aeth.msn', 'aeth.msn'],
  ['infiniband.atomicacketh.origremdt', 'atomicAck.original'],
  ['infiniband.immdt', 'immData'],
];

const version = spawnSync('tshark', ['--version'], { encoding: 'utf8' });
const skip = version.error ? 'tshark is not installed, so there is nobody to compare with' : false;

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'verbena-tshark-'));
after(() => rmSync(folder, { recursive: true }));

/** One capture, written by us, of all the golden packets. */
function writeCapture(): string {
  const file = join(folder, 'golden.pcapng');
  const frames = goldenNames.flatMap((name) => [...readCapture(goldenFile(name))]);
  const packets = frames.map(({ timestampNs, data }) => pcapngPacket(timestampNs, data));
  writeFileSync(file, Buffer.concat([pcapngHeader({ linkType: LinkType.ETHERNET, appName: 'test' }), ...packets]));
  return file;
}

function linesOf(command: string, args: readonly string[]): string[] {
  const { stdout, status } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(status, 0);
  return stdout.trimEnd().split('\n');
}

function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = new Map<string, unknown>(Object.entries(value)).get(name);
  }
  return value;
}

function ourFields(line: string): string[] {
  const json: unknown = JSON.parse(line);
  return FIELDS.map(([, ...paths]) => {
    const value = paths.map((path) => valueAt(json, path)).find((found) => found !== undefined);
    return value === undefined ? '' : String(BigInt(typeof value === 'string' ? value : Number(value)));
  });
}

/** tshark writes numbers in both bases, and immediate data as bytes. */
function theirFields(line: string): string[] {
  return line.split('|').map((text, i) => {
    if (text === '') return '';
    return String(BigInt(FIELDS[i][0] === 'infiniband.immdt' ? `0x${text}` : text));
  });
}

it('dump and tshark read the same in every golden packet', { skip }, () => {
  const file = writeCapture();
  const options = ['-T', 'fields', '-E', 'separator=|', '-E', 'occurrence=f'];
  const fields = FIELDS.flatMap(([name]) => ['-e', name]);
  const theirs = linesOf('tshark', ['-n', '-r', file, '-Y', 'infiniband.bth', ...options, ...fields]).map(theirFields);
  const ours = linesOf(process.execPath, [main, 'dump', '--json', file]).map(ourFields);
  assert.ok(ours.length > 500);
  assert.deepEqual(ours, theirs);
});
