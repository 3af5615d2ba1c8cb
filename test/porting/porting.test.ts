import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as verbena from '../../src/entry/index.js';
import { type Context, type Qp, QpType, VerbsError } from '../../src/entry/index.js';
import { SimulatedCluster } from '../../src/entry/sim.js';
import * as rsocket from '../../src/entry/rsocket.js';
import { areas, rsocketAreas } from './areas/index.js';
import { portingDocument } from './document.js';
import { loadFace } from './face.js';
import {
  exportedFunctions,
  headerFunctions,
  rdmacmExportedFunctions,
  rdmacmHeaderFunctions,
  rsocketFunctions,
} from './functions.js';
import { ownNames } from './own.js';
import type { Answer } from './table.js';

const entries = areas.flatMap((area) => area.entries);
const face = loadFace();
const rsocketFace = loadFace('rsocket');
const own = ownNames.flatMap(({ names }) => names);

function namesIn(answer: Answer): readonly string[] {
  switch (answer.kind) {
    case 'here':
      return answer.names;
    case 'refused':
      return [answer.by];
    case 'absent':
      return [];
  }
}

const paths = [...new Set(entries.flatMap(({ answer }) => namesIn(answer)))];
const topOf = (path: string): string => path.split('.')[0];
const twice = (list: readonly string[]): readonly string[] => list.filter((name, i) => list.indexOf(name) !== i);

describe('the table of C names', () => {
  it('has every function of libibverbs and librdmacm exactly once', () => {
    const functions = entries.filter(({ kind }) => kind === 'function').map(({ c }) => c);
    const known = [exportedFunctions, headerFunctions, rdmacmExportedFunctions, rdmacmHeaderFunctions];
    assert.deepEqual([...functions].sort(), known.flat().sort());
  });

  it('has no name of C twice', () => {
    assert.deepEqual(twice(entries.map(({ c }) => c)), []);
  });

  it('answers only with names that the package has', () => {
    assert.deepEqual(
      [...paths, ...own].filter((path) => face.find(path) === undefined),
      [],
    );
  });

  it('answers with constants and functions that are there at run time', () => {
    const values: Readonly<Record<string, unknown>> = { ...verbena };
    const missing = entries
      .filter(({ kind, answer }) => kind === 'constant' && answer.kind === 'here')
      .flatMap(({ answer }) => namesIn(answer))
      .filter((path) => {
        const [name, key] = path.split('.');
        const value = values[name];
        return (
          key === '' || (typeof value === 'object' ? value === null || !(key in value) : typeof value !== 'number')
        );
      });
    assert.deepEqual(missing, []);
  });

  it('leaves out no export, unless that is listed as one of our own', () => {
    const known = new Set([...paths, ...own].map(topOf));
    assert.deepEqual(
      face.exports.filter((name) => !known.has(name)),
      [],
    );
  });

  it('leaves out no member of what stands for a thing of C, unless that is listed as one of our own', () => {
    const covered = new Set([...paths, ...own].flatMap((path) => face.find(path)?.declarations ?? []));
    const wholes = new Set(own);
    const examined = [...new Set(paths.map(topOf))].filter((name) => !wholes.has(name));
    const forgotten = examined.flatMap((name) =>
      face
        .members(name)
        .map((member) => `${name}.${member}`)
        .filter((path) => !face.find(path)?.declarations.some((place) => covered.has(place))),
    );
    assert.deepEqual(forgotten, []);
  });
});

describe('the table of rsocket.h', () => {
  const sockets = rsocketAreas.flatMap((area) => area.entries);
  const answers = sockets.flatMap(({ answer }) => namesIn(answer));

  it('has every function exactly once, and no name twice', () => {
    const functions = sockets.filter(({ kind }) => kind === 'function').map(({ c }) => c);
    assert.deepEqual([...functions].sort(), [...rsocketFunctions].sort());
    assert.deepEqual(twice(sockets.map(({ c }) => c)), []);
  });

  it('answers with what verbena/rsocket has, and with every option that it has', () => {
    assert.deepEqual(
      answers.filter((path) => rsocketFace.find(path) === undefined),
      [],
    );
    const { SocketOption, IpOption, Ipv6Option, TcpOption, RdmaOption, MsgFlags } = rsocket;
    const options = Object.entries({ SocketOption, IpOption, Ipv6Option, TcpOption, RdmaOption, MsgFlags });
    const all = options.flatMap(([name, values]) => Object.keys(values).map((key) => `${name}.${key}`));
    assert.deepEqual(
      all.filter((path) => !answers.includes(path)),
      [],
    );
    const calls = Object.entries(rsocket)
      .filter(([name, value]) => typeof value === 'function' && /^r[a-z]+$/.test(name))
      .map(([name]) => name);
    assert.deepEqual(
      calls.filter((name) => !answers.includes(name)),
      [],
    );
  });
});

describe('calls for what this device does not have', () => {
  const refusals: ReadonlyMap<string, (context: Context, qp: Qp) => void> = new Map([
    ['Context.allocDm', (context) => context.allocDm()],
    ['Context.createRwqIndTable', (context) => context.createRwqIndTable()],
    ['Context.createWq', (context) => context.createWq()],
    ['Qp.createFlow', (_, qp) => qp.createFlow()],
    [
      'SendBuilder.wrSendTso',
      (_, qp) => {
        qp.wrStart();
        qp.wrSendTso();
        qp.wrComplete();
      },
    ],
  ]);
  const named = new Set(entries.flatMap(({ answer }) => (answer.kind === 'refused' ? [answer.by] : [])));

  it('are all tried here', () => {
    assert.deepEqual([...named].sort(), [...refusals.keys()]);
  });

  for (const [path, refused] of refusals) {
    it(`${path} throws EOPNOTSUPP`, () => {
      using context = new SimulatedCluster({ seed: 1 }).open('10.0.0.1');
      const cq = context.createCq({ cqe: 16 });
      const qp = context.allocPd().createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
      assert.throws(
        () => refused(context, qp),
        (error) => error instanceof VerbsError && error.errno === 'EOPNOTSUPP',
      );
    });
  }
});

describe('the page of the table (node scripts/page.mjs porting)', () => {
  const page = portingDocument(face, rsocketFace);

  it('has every function, struct and enum of C, and every name of our own', () => {
    const names = [...areas, ...rsocketAreas].flatMap(({ entries }) =>
      entries.filter(({ kind }) => ['function', 'struct', 'enum'].includes(kind)).map(({ c }) => c),
    );
    assert.ok(names.length > 300);
    assert.deepEqual(
      [...names, ...ownNames.flatMap((own) => own.names)].filter(
        (name) => !page.includes(name.split('.').at(-1) ?? ''),
      ),
      [],
    );
  });

  it('has tables whose rows have as many cells as their heads', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| '));
    assert.deepEqual(
      rows.filter((row) => row.split(/(?<!\\)\|/).length !== 4),
      [],
    );
  });
});
