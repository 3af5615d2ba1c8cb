import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AhAttr,
  attributeRanges,
  attrMaskOf,
  checkAttributes,
  gidFromIp,
  type QpAttr,
  qpAttrFields,
  QpAttrMask,
  QpState,
} from '../index.js';

const grh = { dgid: gidFromIp('127.0.0.2'), flowLabel: 0, sgidIndex: 0, hopLimit: 64, trafficClass: 0 };
const withoutGrh: AhAttr = { dlid: 0, sl: 0, srcPathBits: 0, staticRate: 0, isGlobal: true, portNum: 1 };
const ahAttr: AhAttr = { ...withoutGrh, grh };

describe('attrMaskOf', () => {
  it('is the set of the fields that are present', () => {
    assert.equal(
      attrMaskOf({ qpState: QpState.RTS, sqPsn: 0, timeout: 14 }),
      QpAttrMask.STATE | QpAttrMask.SQ_PSN | QpAttrMask.TIMEOUT,
    );
  });

  it('is empty without fields', () => assert.equal(attrMaskOf({}), 0));

  it('covers every bit of the mask', () => {
    const all = qpAttrFields.reduce((mask, field) => mask | attrMaskOf({ [field]: 1 }), 0);
    assert.equal(
      all,
      Object.values(QpAttrMask).reduce((mask, bit) => mask | bit, 0),
    );
  });

  it('counts each of the four fields of the alternate path as ALT_PATH', () => {
    for (const field of ['altAhAttr', 'altPkeyIndex', 'altPortNum', 'altTimeout']) {
      assert.equal(attrMaskOf({ [field]: 1 }), QpAttrMask.ALT_PATH, field);
    }
  });
});

describe('checkAttributes', () => {
  const settable = Object.entries(attributeRanges).filter(([field]) => field !== 'sqDraining');

  for (const [field, { min, max }] of settable) {
    it(`takes ${field} from ${min} to ${max}`, () => {
      assert.equal(checkAttributes({ [field]: min }), undefined);
      assert.equal(checkAttributes({ [field]: max }), undefined);
    });

    it(`refuses ${field} outside ${min} to ${max}, and fractions`, () => {
      for (const value of [min - 1, max + 1, min + 0.5, NaN]) {
        assert.match(checkAttributes({ [field]: value }) ?? '', new RegExp(`^${field} is `), String(value));
      }
    });
  }

  it('refuses sqDraining, which can only be queried', () => {
    assert.match(checkAttributes({ sqDraining: 0 }) ?? '', /sqDraining/);
  });

  it('refuses access bits that mean nothing on a QP, inside the range too', () => {
    assert.match(checkAttributes({ qpAccessFlags: 32 }) ?? '', /0x20/);
  });

  it('takes a complete address', () => assert.equal(checkAttributes({ ahAttr }), undefined));

  const badAddresses: readonly [string, AhAttr, RegExp][] = [
    ['no GRH', withoutGrh, /no GRH, which RoCE needs/],
    ['a GRH that is not in use', { ...ahAttr, isGlobal: false }, /no GRH/],
    ['a GID of another length', { ...ahAttr, grh: { ...grh, dgid: new Uint8Array(4) } }, /gidFromIp/],
    ['the GID of nobody', { ...ahAttr, grh: { ...grh, dgid: new Uint8Array(16) } }, /all zeros/],
    ['a hop limit of 256', { ...ahAttr, grh: { ...grh, hopLimit: 256 } }, /ahAttr\.grh\.hopLimit is 256/],
    ['a flow label of 21 bits', { ...ahAttr, grh: { ...grh, flowLabel: 1 << 20 } }, /flowLabel is 1048576/],
    ['a service level of 16', { ...ahAttr, sl: 16 }, /ahAttr\.sl is 16/],
    ['port 0', { ...ahAttr, portNum: 0 }, /ahAttr\.portNum is 0/],
  ];
  for (const [what, ah, sentence] of badAddresses) {
    it(`refuses an address with ${what}`, () => assert.match(checkAttributes({ ahAttr: ah }) ?? '', sentence));
  }

  it('refuses an address on another port than the QP', () => {
    assert.match(checkAttributes({ ahAttr, portNum: 2 }) ?? '', /ahAttr\.portNum is 1, but the QP is on port 2/);
  });

  it('takes every attribute of a usual RTR and RTS', () => {
    const rtr: Partial<QpAttr> = { qpState: QpState.RTR, pathMtu: 3, destQpNum: 0x12, rqPsn: 0xffffff, ahAttr };
    assert.equal(checkAttributes({ ...rtr, maxDestRdAtomic: 1, minRnrTimer: 12 }), undefined);
  });
});
