import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Channel, type ChannelListener, Item } from '../../protocol/index.js';
import { emptyHead, type Head, Kind, type Limits, XioStatus } from '../../wire/index.js';

const NOTHING = new Uint8Array(0);
const LIMITS: Limits = { queueMessages: 4, queueBytes: 1000, maxBodyBytes: 1000, maxHeaderBytes: 100 };

const ignore = (): void => undefined;

class Told implements ChannelListener<Item> {
  readonly onMessage = ignore;
  readonly onResponse = ignore;
  readonly onReceipt = ignore;
  readonly onCancel = ignore;
  readonly onAcknowledged = ignore;
  readonly onGone = ignore;
  readonly onForgotten = ignore;
  readonly onFin = ignore;
  readonly onMove = (): undefined => undefined;
  readonly requests: number[] = [];
  readonly failed: (readonly [Item, XioStatus])[] = [];

  onRequest({ sn }: Head): void {
    this.requests.push(sn);
  }

  onFailed(item: Item, status: XioStatus): void {
    this.failed.push([item, status]);
  }
}

function begun(peer: Partial<Limits> = {}) {
  const told = new Told();
  const channel = new Channel<Item>(LIMITS, told, (item) => item);
  channel.begin({ ...LIMITS, ...peer });
  assert.equal(channel.attach(0), undefined);
  const sent = (): number => {
    let count = 0;
    while (channel.next(emptyHead(Kind.NOP)) !== 'nothing') count += 1;
    return count;
  };
  const hear = (fields: Partial<Head>): string | undefined => {
    const granted = { grantedMessages: LIMITS.queueMessages, grantedBytes: LIMITS.queueBytes };
    return channel.onMessage({ ...emptyHead(Kind.NOP), ...granted, ...fields }, NOTHING, NOTHING, false);
  };
  return { told, channel, sent, hear };
}

describe('a channel', () => {
  it('takes it for a lie when more is granted by a peer that says it has nothing', () => {
    const { channel, sent, hear } = begun();
    for (let i = 0; i < 4; i += 1) channel.call(new Item(Kind.ONE_WAY));
    sent();
    assert.match(hear({ grantedMessages: 8 }) ?? '', /more than it has room for/);
  });

  it('takes it for a lie when more is granted by a peer that has answered nothing', () => {
    const { channel, sent, hear } = begun();
    for (let i = 0; i < 4; i += 1) channel.call(new Item(Kind.REQUEST));
    sent();
    assert.match(hear({ ackSn: 4, grantedMessages: 8 }) ?? '', /more than it has room for/);
  });

  it('takes it for a lie when bytes are granted by a peer that says it has none', () => {
    const { channel, sent, hear } = begun();
    channel.call(new Item(Kind.ONE_WAY, { body: new Uint8Array(1000) }));
    sent();
    assert.match(hear({ grantedBytes: 2000 }) ?? '', /more than it has room for/);
  });

  it('says that it is done once the last message is sent that had to wait for credit', () => {
    const { channel, sent, hear } = begun();
    for (let i = 0; i < 5; i += 1) channel.call(new Item(Kind.ONE_WAY));
    channel.finish();
    assert.equal(sent(), 4);
    assert.equal(hear({ ackSn: 4, grantedMessages: 8 }), undefined);
    const head = emptyHead(Kind.NOP);
    assert.deepEqual(
      [channel.next(head), channel.next(head)].map((item) => item !== 'nothing' && item?.kind),
      [Kind.ONE_WAY, Kind.FIN],
    );
  });

  it('fails answers that wait to be sent when the peer has begun anew', () => {
    const { told, channel, hear } = begun();
    hear({ kind: Kind.REQUEST, sn: 1 });
    const response = new Item(Kind.RESPONSE, { about: 1 });
    assert.equal(channel.respond(response), true);
    channel.detach();
    channel.restart();
    assert.deepEqual(told.failed, [[response, XioStatus.XIO_E_PEER_RESTARTED]]);
  });

  it('fails what waits and is longer than a peer takes that has begun anew, and sends the rest', () => {
    const { told, channel } = begun();
    channel.detach();
    const long = new Item(Kind.REQUEST, { body: new Uint8Array(500) });
    const longHeader = new Item(Kind.REQUEST, { header: new Uint8Array(50) });
    const short = new Item(Kind.REQUEST);
    for (const item of [long, longHeader, short]) channel.call(item);
    channel.restart();
    channel.begin({ ...LIMITS, queueBytes: 100, maxBodyBytes: 100, maxHeaderBytes: 10 });
    channel.attach(0);
    assert.deepEqual(
      told.failed,
      [long, longHeader].map((item) => [item, XioStatus.XIO_E_MSG_SIZE]),
    );
    assert.equal(channel.next(emptyHead(Kind.NOP)), short);
  });
});
