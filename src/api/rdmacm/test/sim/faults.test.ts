import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rows } from './conversations.js';
import { type Depth, explore, SINGLE } from './explore.js';

/** What each state has a use for (protocol/connections.md 4.4). */
const MEETINGS = {
  REQ_SENT: ['REP', 'REJ', 'MRA'],
  MRA_REQ_RCVD: ['REP', 'REJ', 'MRA'],
  REQ_RCVD: ['REQ', 'REJ'],
  REP_SENT: ['RTU', 'REJ', 'MRA', 'DREQ', 'REQ'],
  MRA_REP_RCVD: ['RTU', 'REJ', 'MRA', 'DREQ', 'REQ'],
  REP_RCVD: ['REP', 'REJ'],
  ESTABLISHED: ['REQ', 'REP', 'RTU', 'REJ', 'DREQ'],
  DREQ_SENT: ['DREQ', 'DREP'],
  DREQ_RCVD: ['DREQ'],
  TIMEWAIT: ['REQ', 'DREQ'],
} as const;

/** Conversations of which two messages at once are disturbed; `npm run sim -- --cm-faults 2` does so with all of them. */
const TWICE = new Set(['the server accepts', 'both part', 'the server rejects', 'the client destroys its identifier']);
const DOUBLE: Depth = { faults: 2, kinds: ['lost', 'late', 'echoed'], transmissions: 2 };

const met = new Set<string>();

for (const [transport, what] of [
  ['RC', 'a connection'],
  ['UD', 'a resolution'],
] as const) {
  describe(`whatever happens to one message of ${what}, both ends come out of it as the rules say`, () => {
    for (const row of rows)
      if (row.transport === transport)
        it(`when ${row.name}`, () => {
          for (const meeting of explore(row, SINGLE).met) met.add(meeting);
        });
  });
}

describe('whatever happens to two messages, both ends come out of it as the rules say', () => {
  for (const row of rows)
    if (TWICE.has(row.name))
      it(`when ${row.name}, over ${row.transport}`, () => {
        explore(row, DOUBLE);
      });
});

describe('in these conversations', () => {
  for (const [state, messages] of Object.entries(MEETINGS))
    it(`a connection in ${state} gets every message that it has a use for`, () => {
      const missing = messages.filter((message) => !met.has(`${message} in ${state}`));
      assert.deepEqual(missing, []);
    });
});
