import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ErrorReply, MapReply, OK, type Reply, SetReply, TextReply } from '../../gateway/resp/reply.js';
import { ReplyWriter } from '../../gateway/resp/reply-writer.js';
import { bytesOf, textOf } from './support/play.js';

function writtenReplies(...replies: readonly Reply[]): string {
  const writer = new ReplyWriter();
  for (const reply of replies) writer.write(reply);
  return textOf(writer.take());
}

describe('the writer of replies', () => {
  const REPLIES: readonly (readonly [string, Reply, string])[] = [
    ['a word', OK, '+OK\r\n'],
    ['an error', new ErrorReply('ERR no'), '-ERR no\r\n'],
    ['a value', bytesOf('a\r\nb'), '$4\r\na\r\nb\r\n'],
    ['an empty value', bytesOf(''), '$0\r\n\r\n'],
    ['a text by its bytes', 'é', '$2\r\n\u00c3\u00a9\r\n'],
    ['no value', undefined, '$-1\r\n'],
    ['an integer of 64 bits', -(2n ** 63n), ':-9223372036854775808\r\n'],
    ['values in values', [1, [bytesOf('x'), undefined], []], '*3\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n*0\r\n'],
  ];
  for (const [what, reply, text] of REPLIES) it(`writes ${what}`, () => assert.equal(writtenReplies(reply), text));

  const IN_BOTH: readonly (readonly [string, Reply, string, string])[] = [
    ['no value', undefined, '$-1\r\n', '_\r\n'],
    ['a map', new MapReply([['a', 1]]), '*2\r\n$1\r\na\r\n:1\r\n', '%1\r\n$1\r\na\r\n:1\r\n'],
    ['a set', new SetReply([1, undefined]), '*2\r\n:1\r\n$-1\r\n', '~2\r\n:1\r\n_\r\n'],
    ['a text', new TextReply('é'), '$2\r\n\u00c3\u00a9\r\n', '=6\r\ntxt:\u00c3\u00a9\r\n'],
  ];
  for (const [what, reply, second, third] of IN_BOTH)
    it(`writes ${what} in RESP2 and in RESP3`, () => {
      const writer = new ReplyWriter();
      writer.write(reply, 2);
      assert.equal(textOf(writer.take()), second);
      writer.write(reply, 3);
      assert.equal(textOf(writer.take()), third);
    });

  it('writes any whole number as it is', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), (number) => assert.equal(writtenReplies(number), `:${number}\r\n`)));
  });

  it('writes values of any length one behind the other', () => {
    const values = fc.array(fc.integer({ min: 0, max: 9000 }), { maxLength: 20 });
    fc.assert(
      fc.property(values, (lengths) => {
        const replies = lengths.map((length) => bytesOf('x'.repeat(length)));
        const expected = lengths.map((length) => `$${length}\r\n${'x'.repeat(length)}\r\n`).join('');
        assert.equal(writtenReplies(...replies), expected);
      }),
    );
  });

  it('begins anew once what it has written is taken', () => {
    const writer = new ReplyWriter();
    writer.write(bytesOf('x'.repeat(1 << 19)));
    const taken = writer.take();
    writer.write(OK);
    assert.equal(textOf(writer.take()), '+OK\r\n');
    assert.equal(taken.length, (1 << 19) + '$524288\r\n\r\n'.length);
  });
});
