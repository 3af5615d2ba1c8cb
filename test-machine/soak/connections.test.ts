import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Connections } from './connections.js';

/** A connection that two have. */
function connected(): Connections {
  const connections = new Connections();
  connections.up('a', 1, 100);
  connections.up('b', 1, 110);
  return connections;
}

const unaware = (connections: Connections): string[] =>
  [...connections.unaware(500)].map(({ member, sinceMs }) => `${member} ${sinceMs}`);

describe('who has not noticed that a connection has ended', () => {
  it('is nobody as long as both have it', () => {
    assert.deepEqual(unaware(connected()), []);
  });

  it('is the other side when one has ended it', () => {
    const connections = connected();
    connections.down('a', 1, 200);
    assert.deepEqual(unaware(connections), ['b 200']);
  });

  it('is the other side when one has died', () => {
    const connections = connected();
    connections.died('b', 300);
    assert.deepEqual(unaware(connections), ['a 300']);
  });

  it('are both when one was stopped', () => {
    const connections = connected();
    connections.stopped('b', 300);
    assert.deepEqual(unaware(connections), ['a 300', 'b 300']);
  });

  it('is nobody once both have', () => {
    const connections = connected();
    connections.down('a', 1, 200);
    connections.down('b', 1, 250);
    assert.deepEqual(unaware(connections), []);
  });

  it('is whoever gets the connection when the other side has given it up', () => {
    const connections = new Connections();
    connections.up('a', 1, 100);
    connections.down('a', 1, 150);
    connections.up('b', 1, 400);
    assert.deepEqual(unaware(connections), ['b 400']);
  });
});

it('a side that ends after the other was told; the first was not', () => {
  const connections = connected();
  assert.deepEqual(connections.down('a', 1, 200), { sinceMs: 100, told: false });
  assert.deepEqual(connections.down('b', 1, 250), { sinceMs: 110, told: true });
  assert.equal(connections.longestMs, 50);
});
