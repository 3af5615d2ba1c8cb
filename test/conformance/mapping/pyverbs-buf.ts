import { type Mapping, testsOf } from './types.js';

const memory = testsOf('buffer-alloc', 'memory from alloc()');

const BUF = 'alloc() is what ibv_alloc_buf is in C, and regMr of a part of it what ibv_reg_buf_mr is.';
const CC = `${BUF} Memory that a confidential guest shares with its host is not a matter of a NIC in that guest, so that one kind of domain is enough.`;
const NO_EXPORT = 'Memory of alloc() is a JavaScript buffer, of which no DMA-buf can be made.';
const NO_BOUNCE =
  'For devices that reach a confidential guest’s memory by bounce buffers alone. A software NIC is a program in the guest and needs none, which the query says: no such flag in deviceCapFlagsEx.';
const NO_BOUNDS =
  'A part of a buffer is a view of it, and the language makes no view that reaches past its buffer: there is no call that could be made to go wrong.';

export const mapping: Mapping = {
  'BufAPITest.test_buf_export_dmabuf_fd_plain_pd': { reason: NO_EXPORT },
  'BufAPITest.test_buf_export_dmabuf_fd_on_bounce_device': { reason: `${NO_BOUNCE} ${NO_EXPORT}` },
  'BufAPITest.test_multiple_mrs_one_buf_plain_pd_reg_buf_mr': {
    test: memory('can be registered page by page, each page with keys and an address of its own'),
    note: BUF,
  },
  'BufAPITest.test_multiple_mrs_one_buf_plain_pd_reg_mr_ex': {
    test: memory('can be registered page by page, each page with keys and an address of its own'),
    note: BUF,
  },
  'BufAPITest.test_multiple_mrs_one_buf_cc_pd_reg_buf_mr': {
    test: memory('can be registered page by page, each page with keys and an address of its own'),
    note: CC,
  },
  'BufAPITest.test_buf_reg_wrong_allocating_pd_fails_plain_pd': {
    test: memory('is of no domain: any may register it, also several'),
    note: `${BUF} It belongs to no domain, so that none is the wrong one.`,
  },
  'BufAPITest.test_buf_reg_wrong_allocating_pd_fails_cc_pd': {
    test: memory('is of no domain: any may register it, also several'),
    note: `${CC} Memory belongs to no domain, so that none is the wrong one.`,
  },
  'BufAPITest.test_buf_reg_length_exceeds_buffer_fails_plain_pd': { reason: NO_BOUNDS },
  'BufAPITest.test_buf_reg_length_exceeds_buffer_fails_cc_pd': { reason: NO_BOUNDS },
  'BufAPITest.test_buf_reg_offset_length_exceeds_buffer_fails_plain_pd': { reason: NO_BOUNDS },
  'BufAPITest.test_buf_reg_offset_length_exceeds_buffer_fails_cc_pd': { reason: NO_BOUNDS },
  'BufAPITest.test_plain_mr_rejected_on_bounce_device': { reason: NO_BOUNCE },
  'BufTrafficTest.test_buf_rc_send_cc_pd_reg_buf_mr': {
    test: memory('RC sends 1024 bytes from it and receives into it'),
    note: CC,
  },
  'BufTrafficTest.test_buf_rc_send_large_msg_cc_pd_reg_buf_mr': {
    test: memory('RC sends 16384 bytes from it and receives into it'),
    note: CC,
  },
  'BufTrafficTest.test_buf_rc_send_mr_subrange_cc_pd_reg_buf_mr': {
    test: memory('RC sends from a region that begins a page into it'),
    note: CC,
  },
  'BufTrafficTest.test_buf_rc_rdma_write_imm_cc_pd_reg_buf_mr': {
    test: memory('RC writes into it with immediate data'),
    note: CC,
  },
  'BufTrafficTest.test_buf_rc_rdma_read_cc_pd_reg_buf_mr': { test: memory('RC reads from it'), note: CC },
  'BufTrafficTest.test_buf_rc_atomic_fetch_add_cc_pd_reg_buf_mr': {
    test: memory('RC adds to it and fetches what was there'),
    note: CC,
  },
  'BufTrafficTest.test_buf_ud_send_cc_pd_reg_buf_mr': {
    test: memory('UD sends from it and receives into it'),
    note: CC,
  },
  'BufTrafficTest.test_buf_rc_send_plain_pd_reg_buf_mr': {
    test: memory('RC sends 1024 bytes from it and receives into it'),
    note: BUF,
  },
  'BufTrafficTest.test_buf_rc_send_cc_pd_reg_mr_ex': {
    test: memory('RC sends 1024 bytes from it and receives into it'),
    note: CC,
  },
};
