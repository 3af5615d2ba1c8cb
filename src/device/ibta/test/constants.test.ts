import assert from 'node:assert/strict';
import { constants as system, platform } from 'node:os';
import { describe, it } from 'node:test';
import * as spec from '../index.js';

describe('constants', () => {
  const consecutive: readonly [string, Readonly<Record<string, number>>, number][] = [
    ['QpState', spec.QpState, 7],
    ['WcStatus', spec.WcStatus, 24],
    ['EventType', spec.EventType, 21],
    ['Syndrome', spec.Syndrome, 37],
    ['SrqType', spec.SrqType, 3],
    ['AdviseMrAdvice', spec.AdviseMrAdvice, 3],
    ['SelectivityLevel', spec.SelectivityLevel, 2],
  ];
  for (const [name, constants, count] of consecutive) {
    it(`of ${name} run from 0 to ${count - 1} without a gap`, () => {
      assert.deepEqual(
        Object.values(constants),
        Array.from({ length: count }, (_, i) => i),
      );
    });
  }

  it('of verbs.h that programs write as numbers have its values', () => {
    assert.deepEqual(
      [spec.QpType.RC, spec.QpType.UC, spec.QpType.UD, spec.QpType.RAW_PACKET, spec.QpType.XRC_RECV],
      [2, 3, 4, 8, 10],
    );
    assert.deepEqual([spec.WrOpcode.SEND_WITH_INV, spec.WrOpcode.FLUSH, spec.WrOpcode.ATOMIC_WRITE], [9, 14, 15]);
    assert.deepEqual([spec.QpAttrMask.DEST_QPN, spec.QpAttrMask.RATE_LIMIT], [1 << 20, 1 << 25]);
    assert.deepEqual([spec.AccessFlags.FLUSH_PERSISTENT, spec.AccessFlags.RELAXED_ORDERING], [512, 1 << 20]);
    assert.deepEqual([spec.MwType.TYPE_1, spec.MwType.TYPE_2, spec.SrqType.XRC], [1, 2, 1]);
    assert.deepEqual([spec.QpCreateFlags.BLOCK_SELF_MCAST_LB, spec.QpCreateFlags.SOURCE_QPN], [2, 1024]);
    assert.deepEqual([spec.QpCreateSendOpsFlags.WITH_FLUSH, spec.QpCreateSendOpsFlags.WITH_ATOMIC_WRITE], [2048, 4096]);
    assert.deepEqual([spec.WcExFlags.WITH_COMPLETION_TIMESTAMP, spec.WcExFlags.WITH_TM_INFO], [128, 1024]);
    assert.deepEqual([spec.WC_STANDARD_FLAGS, spec.CreateCqAttrFlags.IGNORE_OVERRUN], [0x7f, 2]);
    assert.deepEqual([spec.XrcdOpenFlags.CREAT, spec.XrcdOpenFlags.EXCL], [64, 128]);
    assert.deepEqual(Object.entries(spec.DeviceCapFlags), [
      ['RESIZE_MAX_WR', 0x1],
      ['BAD_PKEY_CNTR', 0x2],
      ['BAD_QKEY_CNTR', 0x4],
      ['RAW_MULTI', 0x8],
      ['AUTO_PATH_MIG', 0x10],
      ['CHANGE_PHY_PORT', 0x20],
      ['UD_AV_PORT_ENFORCE', 0x40],
      ['CURR_QP_STATE_MOD', 0x80],
      ['SHUTDOWN_PORT', 0x100],
      ['INIT_TYPE', 0x200],
      ['PORT_ACTIVE_EVENT', 0x400],
      ['SYS_IMAGE_GUID', 0x800],
      ['RC_RNR_NAK_GEN', 0x1000],
      ['SRQ_RESIZE', 0x2000],
      ['N_NOTIFY_CQ', 0x4000],
      ['MEM_WINDOW', 0x20000],
      ['UD_IP_CSUM', 0x40000],
      ['XRC', 0x100000],
      ['MEM_MGT_EXTENSIONS', 0x200000],
      ['MEM_WINDOW_TYPE_2A', 0x800000],
      ['MEM_WINDOW_TYPE_2B', 0x1000000],
      ['RC_IP_CSUM', 0x2000000],
      ['RAW_IP_CSUM', 0x4000000],
      ['MANAGED_FLOW_STEERING', 0x20000000],
    ]);
    assert.deepEqual([spec.Errno.EINVAL, spec.Errno.EBUSY, spec.Errno.ENOMEM, spec.Errno.ETIMEDOUT], [22, 16, 12, 110]);
  });

  it("of errno are Linux's", { skip: platform() !== 'linux' && 'other systems have other numbers' }, () => {
    const numbers: Readonly<Record<string, number | undefined>> = system.errno;
    const known = Object.entries(spec.Errno).filter(([name]) => numbers[name] !== undefined);
    assert.ok(known.length > 20);
    for (const [name, number] of known) assert.equal(number, numbers[name], name);
  });

  it('of flags are one bit each', () => {
    const tables = [
      spec.AccessFlags,
      spec.SendFlags,
      spec.WcFlags,
      spec.QpAttrMask,
      spec.WcExFlags,
      spec.CreateCqAttrFlags,
      spec.QpCreateFlags,
      spec.QpCreateSendOpsFlags,
      spec.ReregMrFlags,
      spec.AdviseMrFlags,
      spec.PlacementType,
      spec.OdpGeneralCaps,
      spec.OdpTransportCaps,
      spec.RawPacketCaps,
      spec.DeviceCapFlags,
      spec.QpAttachCompCntrOp,
      spec.SrqAttrMask,
      spec.XrcdOpenFlags,
    ];
    for (const flags of tables) {
      for (const [name, bit] of Object.entries(flags)) assert.equal(bit & (bit - 1), 0, name);
    }
  });
});

describe('mtuBytes', () => {
  it('gives 256 to 4096 for MTU 1 to 5', () => {
    assert.deepEqual(Object.values(spec.Mtu).map(spec.mtuBytes), [256, 512, 1024, 2048, 4096]);
  });
});

describe('mtuFromBytes', () => {
  it('gives the largest MTU that fits', () => {
    assert.equal(spec.mtuFromBytes(255), undefined);
    assert.equal(spec.mtuFromBytes(256), spec.Mtu.MTU_256);
    assert.equal(spec.mtuFromBytes(1471), spec.Mtu.MTU_1024);
    assert.equal(spec.mtuFromBytes(65535), spec.Mtu.MTU_4096);
  });

  it('gives back every MTU', () => {
    for (const mtu of Object.values(spec.Mtu)) assert.equal(spec.mtuFromBytes(spec.mtuBytes(mtu)), mtu);
  });
});

describe('nameOf', () => {
  it('names a value', () => assert.equal(spec.nameOf(spec.QpState, 3), 'RTS'));
  it('gives the number where there is no name', () => assert.equal(spec.nameOf(spec.QpState, 77), '77'));
});

describe('flagNames', () => {
  it('joins the names of the bits', () => assert.equal(spec.flagNames(spec.AccessFlags, 5), 'LOCAL_WRITE|REMOTE_READ'));
  it('writes bits without a name in hexadecimal', () => {
    assert.equal(spec.flagNames(spec.SendFlags, 0x41), 'FENCE|0x40');
  });
  it('writes no bits as 0', () => assert.equal(spec.flagNames(spec.SendFlags, 0), '0'));
});
