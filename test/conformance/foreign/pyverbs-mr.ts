import { casesOf } from './types.js';

// Two RC sides with 1024-byte regions, ten rounds both ways, each completion and the data checked. "MREx" is a region
// made by reg_mr_ex. Device memory (DM) cases are skipped where max_dm_size is 0, DMA-buf ones without a GPU render node.
export const pyverbsMr = casesOf('pyverbs', 'tests/test_mr.py', {
  'MRTest.test_mr_rereg_addr':
    'Receive posted, then rereg_mr CHANGE_TRANSLATION to another buffer: SEND completes REM_OP_ERR; with the QPs through RESET to RTS again, SEND ping-pong works.',
  'MRTest.test_mrex_rereg_addr': 'The same CHANGE_TRANSLATION case with MREx regions.',
  'MRTest.test_mr_rereg_atomic':
    'rereg_mr CHANGE_ACCESS takes REMOTE_ATOMIC away: FETCH_ADD completes REM_ACCESS_ERR; QPs reset and the right given back, FETCH_ADD works.',
  'MRTest.test_mr_rereg_access':
    'Regions with LOCAL_WRITE get REMOTE_WRITE by rereg_mr CHANGE_ACCESS: WRITE both ways works.',
  'MRTest.test_mrex_rereg_access': 'The same CHANGE_ACCESS to REMOTE_WRITE with MREx regions.',
  'MRTest.test_mr_rereg_access_bad_flow':
    'WRITE works; after rereg_mr CHANGE_ACCESS of the server region to LOCAL_WRITE only, it completes REM_ACCESS_ERR.',
  'MRTest.test_mr_rereg_pd':
    'SEND works; after rereg_mr CHANGE_PD of the server region to another PD it completes REM_OP_ERR; QPs reset and PD changed back, SEND works again.',
  'MRTest.test_reg_mr_bad_flags': 'reg_mr with REMOTE_WRITE only, or REMOTE_ATOMIC only (no LOCAL_WRITE), fails.',
  'MRTest.test_reg_mrex_bad_flags': 'reg_mr_ex with REMOTE_WRITE only, or REMOTE_ATOMIC only, fails.',
  'MRTest.test_reg_mrex_inval_params': 'reg_mr_ex with an (implicit) address and a DMA-buf fd together fails.',
  'MWTest.test_mw_type1':
    'Type 1 window with REMOTE_WRITE over a region with only LOCAL_WRITE and MW_BIND, bound on each side (SUCCESS): WRITE both ways through the window keys works.',
  'MWTest.test_mw_ex_type1': 'The same type 1 case over MREx regions.',
  'MWTest.test_invalidate_mw_type1':
    'After type 1 traffic both windows are bound again with length 0 and no access: WRITE with the old key completes REM_ACCESS_ERR.',
  'MWTest.test_mw_type2':
    'Type 2 windows bound by a BIND_MW WR on each side (SUCCESS): WRITE both ways through their keys works.',
  'MWTest.test_mw_type2_invalidate_local':
    'After type 2 traffic each side posts LOCAL_INV for its window (SUCCESS): WRITE completes REM_ACCESS_ERR.',
  'MWTest.test_mw_type2_invalidate_remote':
    'After type 2 traffic each side sends SEND_WITH_INV of the peer’s window (send and receive SUCCESS): WRITE completes REM_ACCESS_ERR.',
  'MWTest.test_mw_type2_invalidate_dealloc':
    'After type 2 traffic both windows are deallocated while bound: WRITE completes REM_ACCESS_ERR.',
  'MWTest.test_reg_mw_wrong_type': 'alloc_mw of type 3 fails.',
  'DeviceMemoryAPITest.test_create_dm_mr':
    'reg_dm_mr (ZERO_BASED, LOCAL_WRITE) of a tenth, half and all of a DM of 4 bytes, a quarter and half of max_dm_size succeeds.',
  'DeviceMemoryAPITest.test_dm_bad_access':
    'Copy from and to a 100-byte DM fails at offset 3, with length 3, at offset 104, and with length 104.',
  'DeviceMemoryAPITest.test_dm_bad_registration': 'reg_dm_mr of 104 bytes of a 100-byte DM fails.',
  'DeviceMemoryAPITest.test_dm_export_dmabuf_fd':
    'Exporting a DM as a DMA-buf gives an fd above 0 (skipped where not supported).',
  'DmaBufMRTest.test_dmabuf_reg_mr':
    'reg_dmabuf_mr of a random length at offset 0 and half of it succeeds with the legal combinations of access flags.',
  'DmaBufMRTest.test_dmabuf_dereg_mr': 'Those DMA-buf regions are deregistered without error.',
  'DmaBufMRTest.test_dmabuf_dereg_mr_twice': 'Closing a DMA-buf region object twice raises nothing.',
  'DmaBufMRTest.test_dmabuf_reg_mr_bad_flags':
    'reg_dmabuf_mr with REMOTE_WRITE, REMOTE_ATOMIC or both but no LOCAL_WRITE fails, five random draws.',
  'DmaBufMRTest.test_dmabuf_write':
    'Bytes can be written to the memory of DMA-buf regions, at offset 0 and half the length.',
  'DmaBufMRTest.test_dmabuf_read': 'Bytes written to the memory of DMA-buf regions can be read back.',
  'DmaBufMRTest.test_dmabuf_lkey': 'A DMA-buf region has an lkey.',
  'DmaBufMRTest.test_dmabuf_rkey': 'A DMA-buf region has an rkey.',
  'DmaBufTestCase.test_dmabuf_rc_traffic': 'RC SEND ping-pong over DMA-buf regions, 100 rounds, SUCCESS with the data.',
  'DmaBufTestCase.test_dmabuf_rdma_traffic':
    'RC WRITE both ways over DMA-buf regions, 100 rounds, SUCCESS with the data.',
  'DeviceMemoryTest.test_dm_traffic': 'RC SEND ping-pong over zero-based DM regions.',
  'DeviceMemoryTest.test_dm_remote_traffic': 'RC WRITE both ways between zero-based DM regions.',
  'DeviceMemoryTest.test_dm_remote_write_traffic_imm':
    'RC WRITE_WITH_IMM ping-pong between zero-based DM regions; immediate and data arrive.',
  'DeviceMemoryTest.test_dm_remote_read_traffic': 'RC READ both ways between zero-based DM regions.',
  'DeviceMemoryTest.test_dm_atomic_fetch_add': 'RC FETCH_ADD on 8-byte DM regions: sum and old value right.',
  'DeviceMemoryTest.test_dm_atomic_cmp_swp':
    'RC CMP_SWAP with an unequal value on 8-byte DM regions: target unchanged, old value returned.',
});
