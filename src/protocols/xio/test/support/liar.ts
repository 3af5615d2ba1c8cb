import assert from 'node:assert/strict';
import { type Link, type Transport, transportOf } from '../../transport/index.js';
import {
  decodeHead,
  emptyHead,
  encodeHead,
  encodeSetupRequest,
  type Head,
  HEAD_BYTES,
  Kind,
} from '../../wire/index.js';
import { LinkEnd } from './link-end.js';
import type { Scene } from './scenes.js';

const NOTHING = new Uint8Array(0);
const LIMITS = { queueMessages: 8, queueBytes: 1000, maxBodyBytes: 1000, maxHeaderBytes: 100 };

/** A peer that says what it likes. */
export class Liar {
  readonly end: LinkEnd;

  constructor(private readonly link: Link) {
    this.end = new LinkEnd(link);
    link.open(this.end);
  }

  /** The kinds of what it was told, and the status of the last. */
  get heard(): readonly Head[] {
    return this.end.got.map(({ head }) => {
      const fields = emptyHead(Kind.NOP);
      assert.equal(decodeHead(head, fields), undefined);
      return fields;
    });
  }

  say(
    fields: Partial<Head>,
    header: Uint8Array = NOTHING,
    body: Uint8Array = NOTHING,
    change?: (view: DataView) => void,
  ): void {
    const head: Head = { ...emptyHead(Kind.NOP), bodyBytes: body.length, ...this.granted, ...fields };
    const bytes = new Uint8Array(HEAD_BYTES + header.length);
    encodeHead(bytes, head, header, undefined);
    change?.(new DataView(bytes.buffer));
    assert.ok(this.link.canSend);
    this.link.send(bytes, body, undefined);
  }

  ask(change: Partial<Parameters<typeof encodeSetupRequest>[0]> = {}): void {
    const request = {
      sessionId: crypto.getRandomValues(new Uint8Array(16)),
      epoch: new Uint8Array(8),
      connection: 0,
      isKnown: false,
      limits: LIMITS,
      resource: '',
      privateData: NOTHING,
      ...change,
    };
    this.say({ kind: Kind.SESSION }, encodeSetupRequest(request));
  }

  readonly granted = { grantedMessages: LIMITS.queueMessages, grantedBytes: LIMITS.queueBytes };
}

/** Connects to a server, as somebody that says what it likes. */
export async function connected({ scheme, taken, until }: Scene, url: string): Promise<Liar> {
  const transport: Transport | undefined = transportOf(scheme);
  assert.ok(transport !== undefined);
  const [, host, port] = /\/\/(.*):(\d+)$/.exec(url) ?? [];
  const before = taken.length;
  const link = await transport.connect({
    host,
    port: Number(port),
    inlineBytes: 8192,
    maxBodyBytes: 2000,
    timeoutMs: 5000,
  });
  const liar = new Liar(link);
  await until(() => taken.length > before);
  return liar;
}
