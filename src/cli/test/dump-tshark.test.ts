import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readCapture } from '../../device/wire/index.js';
import { goldenFile, goldenNames } from '../../device/wire/test/golden.js';
import { readByDump, readByTshark, valueAt, withoutTshark, writeCapture } from './tshark.js';

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

function ourFields(json: unknown): string[] {
  return FIELDS.map(([, ...paths]) => {
    const value = paths.map((path) => valueAt(json, path)).find((found) => found !== undefined);
    return value === undefined ? '' : String(BigInt(typeof value === 'string' ? value : Number(value)));
  });
}

/** tshark writes numbers in both bases, and immediate data as bytes. */
function theirFields(texts: readonly string[]): string[] {
  return texts.map((text, i) => {
    if (text === '') return '';
    return String(BigInt(FIELDS[i][0] === 'infiniband.immdt' ? `0x${text}` : text));
  });
}

it('dump and tshark read the same in every golden packet', { skip: withoutTshark }, () => {
  const file = writeCapture(goldenNames.flatMap((name) => [...readCapture(goldenFile(name))].map(({ data }) => data)));
  const names = FIELDS.map(([name]) => name);
  const theirs = readByTshark(file, 'infiniband.bth', names).map(theirFields);
  const ours = readByDump(file).map(ourFields);
  assert.ok(ours.length > 500);
  assert.deepEqual(ours, theirs);
});
