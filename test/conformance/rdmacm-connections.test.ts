import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CmEventType, CmOption, PrivateDataBytes, RejectReason, SendFlags } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { BYTES, CmPair, deliver, PATIENCE_MS, ROUNDS, type Talker } from './rdmacm-support.js';
import { assertSuccess, pattern, remoteOf, useDevices } from './support.js';

/** 4.096 µs · 2^21, some 8 s: what pyverbs sets. */
const ACK_TIMEOUT = 21;
const REFUSAL = 'connection rejected';

conformance('connections by the events of a channel', (provider) => {
  const devices = useDevices(provider);

  const messages = (one: Talker, other: Talker): void => {
    for (let round = 0; round < ROUNDS; round += 1) {
      deliver(one, other, round);
      deliver(other, one, round);
    }
  };

  test('carry messages both ways', () => {
    using pair = new CmPair(devices);
    const { active, passive } = pair;
    const child = pair.connect();
    messages(active.talkerOn(active.id), passive.talkerOn(child));
  });

  test('lead from a device back to it', () => {
    using pair = new CmPair(devices.slice(0, 1));
    const { active, passive } = pair;
    const child = pair.connect();
    messages(active.talkerOn(active.id), passive.talkerOn(child));
  });

  test('have the ACK timeout that was set', () => {
    using pair = new CmPair(devices);
    const child = pair.connect({}, (id) => id.setOption(CmOption.ACK_TIMEOUT, ACK_TIMEOUT));
    const timeouts = [pair.active.id, child].map(({ qp }) => qp?.query().attr.timeout);
    assert.deepEqual(timeouts, [ACK_TIMEOUT, ACK_TIMEOUT]);
  });

  test('end on both sides when one side ends them', () => {
    using pair = new CmPair(devices);
    const { active, passive } = pair;
    const child = pair.connect();
    child.disconnect();
    active.expect(CmEventType.DISCONNECTED);
    active.id.disconnect();
    passive.expect(CmEventType.DISCONNECTED);
  });

  test('that are refused say so with what the other side has to say', () => {
    using pair = new CmPair(devices);
    const { active, passive } = pair;
    active.resolve(passive);
    active.id.createQp();
    active.id.connect();
    passive.expectRequest().id.reject(Buffer.from(REFUSAL));
    const { status, param } = active.expect(CmEventType.REJECTED);
    assert.equal(status, RejectReason.CONSUMER_DEFINED);
    const said = param.conn?.privateData ?? new Uint8Array();
    assert.equal(said.length, PrivateDataBytes.REJECT);
    assert.equal(Buffer.from(said).toString('utf8', 0, REFUSAL.length), REFUSAL);
  });

  test("let one side read the other's memory", () => {
    using pair = new CmPair(devices);
    const { active, passive } = pair;
    const child = pair.connect();
    const reader = active.talkerOn(active.id);
    const { mr } = passive.talkerOn(child, 'regRead');
    const { remoteAddr, rkey } = remoteOf(mr);
    for (let round = 0; round < ROUNDS; round += 1) {
      mr.bytes.set(pattern(BYTES, round));
      active.id.postRead(round, reader.mr.sge(0, BYTES), SendFlags.SIGNALED, remoteAddr, rkey);
      assertSuccess(reader, active.id.getSendComp(PATIENCE_MS));
      assert.deepEqual(reader.mr.bytes.subarray(0, BYTES), pattern(BYTES, round));
    }
  });

  test("let one side write the other's memory", () => {
    using pair = new CmPair(devices);
    const { active, passive } = pair;
    const child = pair.connect();
    const writer = active.talkerOn(active.id);
    const { mr } = passive.talkerOn(child, 'regWrite');
    const { remoteAddr, rkey } = remoteOf(mr);
    for (let round = 0; round < ROUNDS; round += 1) {
      writer.mr.bytes.set(pattern(BYTES, round));
      active.id.postWrite(round, writer.mr.sge(0, BYTES), SendFlags.SIGNALED, remoteAddr, rkey);
      assertSuccess(writer, active.id.getSendComp(PATIENCE_MS));
      assert.deepEqual(mr.bytes.subarray(0, BYTES), pattern(BYTES, round));
    }
  });
});
