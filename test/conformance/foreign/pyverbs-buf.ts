import { casesOf } from './types.js';

// A very new interface: ibv_alloc_buf gives memory that suits the device, ibv_reg_buf_mr (or ibv_reg_mr_ex with a
// buffer) registers it. "CC PD" is a parent domain that may allocate memory unprotected from the host of a confidential
// guest; every case with one is skipped where such a parent domain is refused. Traffic polls extended CQs.
export const pyverbsBuf = casesOf('pyverbs', 'tests/test_buf.py', {
  'BufAPITest.test_buf_export_dmabuf_fd_plain_pd':
    'Exporting a DMA-buf fd of a buffer allocated on a plain PD fails with ENODATA.',
  'BufAPITest.test_buf_export_dmabuf_fd_on_bounce_device':
    'Only on a device with CC_DMA_BOUNCE: a buffer on a CC PD exports a DMA-buf fd that can be closed.',
  'BufAPITest.test_multiple_mrs_one_buf_plain_pd_reg_buf_mr':
    'Plain PD, reg_buf_mr: two regions over the two pages of one buffer have different lkeys, right addresses, and read back what each was filled with.',
  'BufAPITest.test_multiple_mrs_one_buf_plain_pd_reg_mr_ex':
    'The same two regions of one buffer, registered by reg_mr_ex.',
  'BufAPITest.test_multiple_mrs_one_buf_cc_pd_reg_buf_mr':
    'The same two regions of one buffer on a CC PD, by reg_buf_mr.',
  'BufAPITest.test_buf_reg_wrong_allocating_pd_fails_plain_pd':
    'reg_buf_mr on another plain PD than the one that allocated the buffer fails with EINVAL.',
  'BufAPITest.test_buf_reg_wrong_allocating_pd_fails_cc_pd':
    'reg_buf_mr on another CC PD than the one that allocated the buffer fails with EINVAL.',
  'BufAPITest.test_buf_reg_length_exceeds_buffer_fails_plain_pd':
    'Plain PD: reg_buf_mr of two pages of a one-page buffer fails with EINVAL.',
  'BufAPITest.test_buf_reg_length_exceeds_buffer_fails_cc_pd':
    'CC PD: reg_buf_mr of two pages of a one-page buffer fails with EINVAL.',
  'BufAPITest.test_buf_reg_offset_length_exceeds_buffer_fails_plain_pd':
    'Plain PD: reg_buf_mr of a page at offset one page in a one-page buffer fails with EINVAL.',
  'BufAPITest.test_buf_reg_offset_length_exceeds_buffer_fails_cc_pd':
    'CC PD: reg_buf_mr of a page at offset one page in a one-page buffer fails with EINVAL.',
  'BufAPITest.test_plain_mr_rejected_on_bounce_device':
    'Only on a device with CC_DMA_BOUNCE: an ordinary reg_mr on a plain PD fails.',
  'BufTrafficTest.test_buf_rc_send_cc_pd_reg_buf_mr':
    'CC PD: RC SEND ping-pong of 1024 bytes over buffer regions, SUCCESS with the data.',
  'BufTrafficTest.test_buf_rc_send_large_msg_cc_pd_reg_buf_mr':
    'CC PD: RC SEND ping-pong of 16384 bytes over buffer regions.',
  'BufTrafficTest.test_buf_rc_send_mr_subrange_cc_pd_reg_buf_mr':
    'CC PD: RC SEND ping-pong of 8192 bytes over a region that starts one page into a larger buffer.',
  'BufTrafficTest.test_buf_rc_rdma_write_imm_cc_pd_reg_buf_mr':
    'CC PD: RC WRITE_WITH_IMM ping-pong into buffer regions; data and immediate arrive.',
  'BufTrafficTest.test_buf_rc_rdma_read_cc_pd_reg_buf_mr': 'CC PD: RC READ from buffer regions, SUCCESS with the data.',
  'BufTrafficTest.test_buf_rc_atomic_fetch_add_cc_pd_reg_buf_mr':
    'CC PD: RC FETCH_ADD on 8-byte buffer regions gives the sum and the old value.',
  'BufTrafficTest.test_buf_ud_send_cc_pd_reg_buf_mr':
    'CC PD: UD SEND ping-pong over buffer regions (GRH before the data).',
  'BufTrafficTest.test_buf_rc_send_plain_pd_reg_buf_mr':
    'Plain PD: RC SEND ping-pong of 1024 bytes over buffer regions.',
  'BufTrafficTest.test_buf_rc_send_cc_pd_reg_mr_ex': 'CC PD: RC SEND ping-pong over buffer regions made by reg_mr_ex.',
});
