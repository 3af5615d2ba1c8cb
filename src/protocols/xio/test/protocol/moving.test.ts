import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Channel,
  type ChannelListener,
  type ClientHost,
  ClientMachine,
  Item,
  ServedSessions,
} from '../../protocol/index.js';
import {
  Action,
  emptyHead,
  encodeMove,
  type Head,
  Kind,
  type Limits,
  type SetupAnswer,
  type SetupRequest,
  XioStatus,
} from '../../wire/index.js';

const NOTHING = new Uint8Array(0);
const LIMITS: Limits = { queueMessages: 4, queueBytes: 1000, maxBodyBytes: 1000, maxHeaderBytes: 100 };
const EPOCH = new Uint8Array(8).fill(7);
const ANSWER: SetupAnswer = {
  epoch: EPOCH,
  action: Action.ACCEPT,
  status: XioStatus.XIO_E_SUCCESS,
  limits: LIMITS,
  addresses: [],
  privateData: NOTHING,
  words: '',
};

const ignore = (): void => undefined;

/** A client that is sent on while its last message is under way. */
function moving() {
  const told: string[] = [];
  const note = (what: string) => (item: Item) => void told.push(`${what} ${item.kind}`);
  const listener: ChannelListener<Item> = {
    onRequest: ignore,
    onMessage: ignore,
    onResponse: ignore,
    onReceipt: ignore,
    onCancel: ignore,
    onGone: ignore,
    onForgotten: ignore,
    onFin: ignore,
    onAcknowledged: note('acknowledged'),
    onFailed: note('failed'),
    onMove: (addresses) => {
      machine.onMove(addresses);
      return undefined;
    },
  };
  const channel = new Channel<Item>(LIMITS, listener, (item) => item);
  const asked: SetupRequest[] = [];
  const host: ClientHost = {
    nowMs: () => 0,
    connect: (address) => void told.push(`connect ${address}`),
    ask: (request) => void asked.push(request),
    pause: ignore,
    limit: ignore,
    dropLink: ignore,
    sessionId: (life) => new Uint8Array(16).fill(life),
    roomProblem: () => undefined,
    onOpen: ignore,
    onRedirected: (_, isClean) => void told.push(isClean ? 'clean' : 'in doubt'),
    onOver: (status) => void told.push(`over ${status}`),
  };
  const manners = {
    addresses: ['old'],
    resource: '',
    privateData: NOTHING,
    connection: 0,
    maxRedirects: 8,
    answerTimeoutMs: 1000,
    reconnectMs: 1000,
  };
  const machine: ClientMachine<Item> = new ClientMachine<Item>(channel, manners, host);
  machine.start();
  machine.onLink();
  machine.onAnswer(ANSWER, 0);
  channel.call(new Item(Kind.ONE_WAY));
  const hear = (fields: Partial<Head>, header: Uint8Array = NOTHING): string | undefined => {
    const granted = { grantedMessages: LIMITS.queueMessages, grantedBytes: LIMITS.queueBytes };
    return channel.onMessage({ ...emptyHead(Kind.NOP), ...granted, ...fields }, header, NOTHING, false);
  };
  const send = (): void => {
    while (channel.next(emptyHead(Kind.NOP)) !== 'nothing');
  };
  send();
  assert.equal(hear({ kind: Kind.MOVE, sn: 1 }, encodeMove(['new'])), undefined);
  send();
  told.length = 0;
  machine.onLinkLost('cut');
  machine.onLink();
  return { machine, told, asked };
}

describe('a client that is sent on, whose link is lost before it knows what has come', () => {
  it('asks its server once more, and goes without a doubt when that says that all has', () => {
    const { machine, told, asked } = moving();
    assert.equal(asked.at(-1)?.isKnown, true);
    // Its message, and FIN.
    assert.equal(machine.onAnswer({ ...ANSWER, action: Action.UNKNOWN }, 2), undefined);
    assert.deepEqual(told, [
      'connect old',
      `acknowledged ${Kind.ONE_WAY}`,
      `acknowledged ${Kind.FIN}`,
      'clean',
      'connect new',
    ]);
  });

  it('says that what it has sent may have come, when that says nothing', () => {
    const { machine, told } = moving();
    assert.equal(machine.onAnswer({ ...ANSWER, action: Action.UNKNOWN }, 0), undefined);
    assert.deepEqual(told, ['connect old', `failed ${Kind.ONE_WAY}`, `failed ${Kind.FIN}`, 'in doubt', 'connect new']);
  });

  it('takes it for a lie when more is said to have come than was sent', () => {
    const { machine } = moving();
    assert.match(machine.onAnswer({ ...ANSWER, action: Action.UNKNOWN }, 3) ?? '', /received up to number 3/);
  });
});

describe('a server that has sent sessions on', () => {
  const requestOf = (name: number): SetupRequest => {
    const sessionId = new Uint8Array(16);
    new DataView(sessionId.buffer).setUint32(0, name);
    return {
      sessionId,
      epoch: EPOCH,
      connection: 0,
      isKnown: true,
      limits: LIMITS,
      resource: '',
      privateData: NOTHING,
    };
  };

  it('remembers of so many what it has received, until it is another', () => {
    const sessions = new ServedSessions(EPOCH);
    for (let name = 0; name <= 4096; name += 1) sessions.part(requestOf(name), name + 1);
    const said = [0, 1, 4096, 5000].map((name) => sessions.decide(requestOf(name), 0));
    assert.deepEqual(
      said,
      [0, 2, 4097, 0].map((received) => ({ action: Action.UNKNOWN, received })),
    );
    const another = { ...requestOf(1), epoch: new Uint8Array(8) };
    assert.deepEqual(sessions.decide(another, 0), { action: Action.UNKNOWN, received: 0 });
  });
});
