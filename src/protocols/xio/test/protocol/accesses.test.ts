import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AccessHost, Accesses, MOST_GRANTS } from '../../protocol/index.js';
import { encodeMapped, PLACE_BYTES, XioStatus } from '../../wire/index.js';

const LANE = {};
const ACCESS = { read: true, write: false };

/** An owner that grants whatever it is asked for, by the link that there is. */
class Owner implements AccessHost<object> {
  link = {};
  asked = 0;
  linkOf = (): object => this.link;
  isDirect = (): boolean => true;
  lifeOf = (): number => 1;
  mostBytes = () => ({ request: 100, response: 100 });
  move = () => undefined;

  ask(...[, , asker]: Parameters<AccessHost<object>['ask']>): ReturnType<AccessHost<object>['ask']> {
    this.asked += 1;
    const place = new Uint8Array(PLACE_BYTES);
    const answer = encodeMapped({ length: 0, access: ACCESS, place });
    asker.onAnswer(XioStatus.XIO_E_SUCCESS, answer, new Uint8Array(0));
    return { giveUp: () => undefined, mayHaveRun: true };
  }
}

function read(accesses: Accesses<object>, number: number): XioStatus | undefined {
  const id = new Uint8Array(16);
  new DataView(id.buffer).setUint32(0, number);
  let failure: XioStatus | undefined;
  accesses.begin(LANE, {
    isRead: true,
    id,
    offset: 0,
    memory: new Uint8Array(1),
    onDone: () => undefined,
    onFailed: (status) => (failure = status),
  });
  return failure;
}

describe('what is known of memory that a peer has granted', () => {
  it('is asked for once', () => {
    const owner = new Owner();
    const accesses = new Accesses(owner);
    for (let i = 0; i < 3; i += 1) assert.equal(read(accesses, 0), XioStatus.XIO_E_REM_USER_BUF_OVERFLOW);
    assert.equal(owner.asked, 1);
  });

  it('is no more than a peer can grant', () => {
    const owner = new Owner();
    const accesses = new Accesses(owner);
    for (let number = 0; number <= MOST_GRANTS; number += 1) read(accesses, number);
    read(accesses, 1);
    assert.equal(owner.asked, MOST_GRANTS + 1);
    read(accesses, 0);
    assert.equal(owner.asked, MOST_GRANTS + 2);
  });
});
