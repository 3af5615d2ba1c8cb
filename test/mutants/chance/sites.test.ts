import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allSites, applied, sitesOf } from './sites.js';

const spoilt = (text: string): string[] => sitesOf('a.ts', text).map((site) => applied(text, site));

describe('the places that chance picks from', () => {
  it('turns a condition round, and replaces its comparison by the neighbour', () => {
    assert.deepEqual(spoilt('if (a < b) c();'), ['if (!(a < b)) c();', 'if (a <= b) c();', 'if (a < b) ;']);
  });

  it('leaves out calls, awaited ones too, and assignments', () => {
    assert.deepEqual(spoilt('await go(x);'), [';']);
    assert.deepEqual(spoilt('this.a = b;'), [';']);
    assert.deepEqual(spoilt('n++;'), [';']);
  });

  it('makes a number greater by one, of either kind, and turns a truth round', () => {
    assert.deepEqual(spoilt('const a = 7;'), ['const a = (7 + 1);']);
    assert.deepEqual(spoilt('const a = 7n;'), ['const a = (7n + 1n);']);
    assert.deepEqual(spoilt('const a = true;'), ['const a = false;']);
  });

  it('keeps types, names and words', () => {
    for (const text of ['let a: 1 | 2;', 'type A = true;', "const a = 'x' + b;", 'const a = { 1: b };'])
      assert.deepEqual(spoilt(text), [], text);
  });

  it('lie in the source, but not in the command line', () => {
    const rooms = new Set(allSites().map(({ file }) => file.split('/').slice(1, 3).join('/')));
    assert.ok(rooms.has('device/nic') && rooms.has('providers/soft') && !rooms.has('cli'));
  });
});
