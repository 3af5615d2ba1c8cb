import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodePacket, type Packet } from '../../../device/wire/index.js';
import { Conversations } from '../index.js';
import type { CapturedMessage, Dissector } from '../../core/index.js';

const FIRST = 0x00;
const MIDDLE = 0x01;
const LAST = 0x02;
const BTH_BYTES = 12;
const ICRC_BYTES = 4;

function packetOf(opcode: number, psn: number): Packet {
  const bytes = new Uint8Array(BTH_BYTES + 8 + ICRC_BYTES).fill(psn, BTH_BYTES, BTH_BYTES + 8);
  bytes[0] = opcode;
  bytes[7] = 0x11;
  bytes[11] = psn;
  const packet = decodePacket(bytes, 0, bytes.length);
  if ('refusal' in packet) throw new Error(packet.refusal);
  return packet;
}

function told(packets: readonly Packet[]): CapturedMessage[] {
  const messages: CapturedMessage[] = [];
  const dissector: Dissector = {
    name: 'test',
    hello: () => undefined,
    message: (message) => {
      messages.push(message);
      return undefined;
    },
    peerOf: () => '10.0.0.1 0x12',
  };
  const conversations = new Conversations([dissector]);
  for (const packet of packets)
    conversations.next({
      source: '10.0.0.1',
      destination: '10.0.0.2',
      timeUs: 0,
      packet,
      cm: undefined,
      isCut: false,
    });
  return messages;
}

const [first, middle, last] = [packetOf(FIRST, 1), packetOf(MIDDLE, 2), packetOf(LAST, 3)];
const WHOLE = [...new Uint8Array(8).fill(1), ...new Uint8Array(8).fill(2), ...new Uint8Array(8).fill(3)];

describe('a message of several packets', () => {
  it('is put together', () => {
    const [{ payload, byteLength, way }] = told([first, middle, last]);
    assert.deepEqual([...payload], WHOLE);
    assert.equal(byteLength, 24);
    assert.deepEqual([way.from, way.to], ['10.0.0.1 0x12', '10.0.0.2 0x11']);
  });

  it('is put together where both sides were captured, in between each other', () => {
    const messages = told([first, middle, first, last, middle, last]);
    assert.deepEqual(
      messages.map(({ payload }) => [...payload]),
      [WHOLE, WHOLE],
    );
  });

  it('has no bytes where the capture lacks a packet', () => {
    const [{ payload, byteLength }] = told([first, last]);
    assert.equal(payload.length, 0);
    assert.equal(byteLength, 24);
  });
});
