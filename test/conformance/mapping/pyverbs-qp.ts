import { type Mapping, type MappingEntry, testsOf } from './types.js';

const pairs = testsOf('qp-creation', 'queue pairs');
const modified = testsOf('qp-modify', 'modified queue pairs');

const oneCall = 'createQp is both create_qp and create_qp_ex: it takes the fields of either.';
const raw =
  'Where the process may not have raw packet queue pairs, EPERM or EOPNOTSUPP is what must come, and the test goes on with a simulated device.';
const noAttr = (type: string, note?: string): MappingEntry => ({
  test: pairs(`of type ${type} are made as they were asked for, in RESET, and can be ended`),
  ...(note === undefined ? {} : { note }),
});
const withAttr = (type: string, note?: string): MappingEntry => ({
  test: pairs(`of type ${type} go from RESET to where they can be used`),
  ...(note === undefined ? {} : { note }),
});
const tooMuch = (size: string): MappingEntry => ({
  test: pairs(`of type UD are refused with a ${size} above the device’s`),
});
const queried = (type: string, note = oneCall): MappingEntry => ({
  test: pairs(`of type ${type} have at least the sizes that were asked for, and tell them`),
  note,
});

export const mapping: Mapping = {
  'QPTest.test_create_rc_qp_no_attr': noAttr('RC'),
  'QPTest.test_create_uc_qp_no_attr': noAttr('UC'),
  'QPTest.test_create_ud_qp_no_attr': noAttr('UD'),
  'QPTest.test_create_raw_qp_no_attr': noAttr('RAW_PACKET', raw),
  'QPTest.test_create_rc_qp_with_attr': withAttr('RC'),
  'QPTest.test_create_uc_qp_with_attr': withAttr('UC'),
  'QPTest.test_create_ud_qp_with_attr': withAttr('UD'),
  'QPTest.test_create_raw_qp_with_attr': withAttr('RAW_PACKET', raw),
  'QPTest.test_create_rc_qp_ex_no_attr': noAttr('RC', oneCall),
  'QPTest.test_create_uc_qp_ex_no_attr': noAttr('UC', oneCall),
  'QPTest.test_create_ud_qp_ex_no_attr': noAttr('UD', oneCall),
  'QPTest.test_create_raw_qp_ex_no_attr': noAttr('RAW_PACKET', `${oneCall} ${raw}`),
  'QPTest.test_create_rc_qp_ex_with_attr': withAttr('RC', oneCall),
  'QPTest.test_create_uc_qp_ex_with_attr': withAttr('UC', oneCall),
  'QPTest.test_create_ud_qp_ex_with_attr': withAttr('UD', oneCall),
  'QPTest.test_create_raw_qp_ex_with_attr': withAttr('RAW_PACKET', `${oneCall} ${raw}`),
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_wr': tooMuch('maxSendWr'),
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_sge': tooMuch('maxSendSge'),
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_sge': tooMuch('maxRecvSge'),
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_wr': tooMuch('maxRecvWr'),
  'QPTest.test_query_rc_qp': queried('RC'),
  'QPTest.test_query_uc_qp': queried('UC'),
  'QPTest.test_query_ud_qp': queried('UD'),
  'QPTest.test_query_raw_qp': queried('RAW_PACKET', `${oneCall} ${raw}`),
  'QPTest.test_query_data_in_order': {
    reason:
      'The API has no ibv_query_qp_data_in_order: it is a hint for programs that look for data in memory before its ' +
      'completion, which the memory model of JavaScript does not let them do.',
  },
  'QPTest.test_modify_ud_qp': {
    test: modified('of type UD tell their Q_Key after INIT and their PSN after RTS, and can go back to RESET'),
  },
  'QPTest.test_create_ud_qp_with_privileged_qkey': {
    test: modified('of type UD cannot have a Q_Key with its top bit set'),
    note: 'A NIC in user space has no privileged users: every program gets the EPERM of one without CAP_NET_RAW.',
  },
  'QPTest.test_raw_qp_rate_limit_modify': {
    test: modified('of type RAW_PACKET take a rate on their way to RTS, and another one there'),
    note: raw,
  },
  'RCQPTest.test_modify_rc_qp_rd_atomic': {
    test: modified('of type RC have at least as many READs outstanding as was asked for'),
  },
};
