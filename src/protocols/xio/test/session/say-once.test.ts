import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sayOnce } from '../../server/say-once.js';
import { LinkEnd, type LinkUser } from '../../session/link-end.js';
import type { Clock, Link } from '../../transport/index.js';

const ANSWER = new Uint8Array(8);
const ignore = (): void => undefined;

/** Time that passes when the test says so. */
class Hand implements Clock {
  readonly #actions = new Set<() => void>();

  nowUs(): number {
    return 0;
  }

  timer(_delayMs: number, action: () => void): () => void {
    this.#actions.add(action);
    return () => this.#actions.delete(action);
  }

  chore(delayMs: number, action: () => void): () => void {
    return this.timer(delayMs, action);
  }

  get waiting(): number {
    return this.#actions.size;
  }

  passes(): void {
    for (const action of [...this.#actions]) action();
  }
}

/** A link to a client that may give no room. */
class Narrow implements Link {
  readonly scheme = 'rdma';
  readonly localAddress = undefined;
  readonly remoteAddress = undefined;
  readonly hasRemoteMemory = false;
  readonly maxHeadBytes = 4096;
  readonly heard = 0;
  readonly clock = new Hand();
  readonly open = ignore;
  readonly redirect = ignore;
  readonly probe = ignore;
  readonly ref = ignore;
  readonly unref = ignore;
  readonly close = ignore;
  canSend = false;
  sent = 0;
  isAborted = false;

  send(): undefined {
    this.sent += 1;
  }

  abort(): void {
    this.isAborted = true;
  }

  expose(): undefined {
    return undefined;
  }

  grant(): undefined {
    return undefined;
  }

  move(): undefined {
    return undefined;
  }
}

function said() {
  const link = new Narrow();
  const nobody: LinkUser = {
    link,
    landing: () => undefined,
    onFrame: () => undefined,
    pump: () => undefined,
    onLinkEnd: () => undefined,
  };
  const end = new LinkEnd(nobody, link);
  let isDone = false;
  sayOnce(end, ANSWER, () => (isDone = true));
  return { link, end, isDone: () => isDone };
}

describe('a client that is told one thing', () => {
  it('is gone after a while when it gives no room for it', () => {
    const { link, isDone } = said();
    link.clock.passes();
    assert.deepEqual([link.isAborted, link.sent, isDone()], [true, 0, false]);
  });

  it('is told when it gives room, and not hurried any more', () => {
    const { link, end, isDone } = said();
    link.canSend = true;
    end.onRoom();
    end.onRoom();
    assert.deepEqual([link.sent, isDone(), link.clock.waiting], [1, true, 0]);
  });

  it('is not waited for when its link has ended', () => {
    const { link, end } = said();
    end.onEnd(undefined);
    assert.equal(link.clock.waiting, 0);
  });
});
