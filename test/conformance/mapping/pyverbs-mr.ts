import { type Mapping, testsOf } from './types.js';

const traffic = testsOf('mr-rereg', 'traffic while a region changes');
const placed = testsOf('mr-rereg', 'traffic while a region at a chosen address changes');
const registration = testsOf('mr-registration', 'regions');
const first = testsOf('mw-type1', 'windows of type 1');
const rights1 = testsOf('mw-access', 'rights of a window of type 1');
const rights2 = testsOf('mw-access', 'rights of a window of type 2');
const closing = testsOf('mw-type2', 'closing windows of type 2');

const EX = 'What ibv_reg_mr_ex adds to ibv_reg_mr and this device has is the address that peers use.';
const NO_DM =
  'The device has no memory of its own: the query says maxDmSize 0, and allocDm throws EOPNOTSUPP (mr-absent checks both).';
const NO_DMABUF =
  'A region is memory of the process, or a buffer of a GPU (verbena/gpu). There is no DMA-buf to register: regMr takes no descriptor.';

export const mapping: Mapping = {
  'MRTest.test_mr_rereg_addr': {
    test: [
      traffic('a receive request for memory that it had before fails at both ends'),
      traffic('the new memory is sent from and received into once the queue pairs are up again'),
    ],
  },
  'MRTest.test_mrex_rereg_addr': {
    test: [
      placed('a receive request for memory that it had before fails at both ends'),
      placed('the new memory is sent from and received into once the queue pairs are up again'),
    ],
    note: EX,
  },
  'MRTest.test_mr_rereg_atomic': { test: traffic('atomics get through again once the right to them is back') },
  'MRTest.test_mr_rereg_access': { test: traffic('WRITEs get through both ways once it has the right') },
  'MRTest.test_mrex_rereg_access': { test: placed('WRITEs get through both ways once it has the right'), note: EX },
  'MRTest.test_mr_rereg_access_bad_flow': {
    test: traffic('WRITEs do not get through any more once it has lost the right'),
  },
  'MRTest.test_mr_rereg_pd': { test: traffic('SENDs into it work in its domain alone') },
  'MRTest.test_reg_mr_bad_flags': {
    test: [
      registration('with REMOTE_WRITE and no LOCAL_WRITE are refused'),
      registration('with REMOTE_ATOMIC and no LOCAL_WRITE are refused'),
    ],
  },
  'MRTest.test_reg_mrex_bad_flags': {
    test: 'mr-addresses: regions that are named by an address of the program’s choice › need LOCAL_WRITE for rights of peers to change them',
    note: EX,
  },
  'MRTest.test_reg_mrex_inval_params': {
    reason: `${NO_DMABUF} So nothing can contradict it.`,
  },
  'MWTest.test_mw_type1': { test: rights1('WRITEs get through both ways, each through a window of the other end') },
  'MWTest.test_mw_ex_type1': {
    test: rights1('WRITEs get through both ways over regions at chosen addresses'),
    note: EX,
  },
  'MWTest.test_invalidate_mw_type1': {
    test: first('of both ends close to WRITEs when both are bound to nothing'),
  },
  'MWTest.test_mw_type2': { test: rights2('WRITEs get through both ways, each through a window of the other end') },
  'MWTest.test_mw_type2_invalidate_local': {
    test: closing('by LOCAL_INV stops WRITEs that got through before, both ways'),
  },
  'MWTest.test_mw_type2_invalidate_remote': {
    test: closing('by a peer tells the owner which key it was, and stops WRITEs'),
  },
  'MWTest.test_mw_type2_invalidate_dealloc': {
    test: 'mw-lifetime: windows › of type 2 close when they end while bound',
  },
  'MWTest.test_reg_mw_wrong_type': { test: 'mw-lifetime: windows › of a type that does not exist are refused' },
  'DeviceMemoryAPITest.test_create_dm_mr': { reason: NO_DM },
  'DeviceMemoryAPITest.test_dm_bad_access': { reason: NO_DM },
  'DeviceMemoryAPITest.test_dm_bad_registration': { reason: NO_DM },
  'DeviceMemoryAPITest.test_dm_export_dmabuf_fd': { reason: NO_DM },
  'DmaBufMRTest.test_dmabuf_reg_mr': { reason: NO_DMABUF },
  'DmaBufMRTest.test_dmabuf_dereg_mr': { reason: NO_DMABUF },
  'DmaBufMRTest.test_dmabuf_dereg_mr_twice': { reason: NO_DMABUF },
  'DmaBufMRTest.test_dmabuf_reg_mr_bad_flags': { reason: NO_DMABUF },
  'DmaBufMRTest.test_dmabuf_write': { reason: NO_DMABUF },
  'DmaBufMRTest.test_dmabuf_read': { reason: NO_DMABUF },
  'DmaBufMRTest.test_dmabuf_lkey': { reason: NO_DMABUF },
  'DmaBufMRTest.test_dmabuf_rkey': { reason: NO_DMABUF },
  'DmaBufTestCase.test_dmabuf_rc_traffic': { reason: NO_DMABUF },
  'DmaBufTestCase.test_dmabuf_rdma_traffic': { reason: NO_DMABUF },
  'DeviceMemoryTest.test_dm_traffic': { reason: NO_DM },
  'DeviceMemoryTest.test_dm_remote_traffic': { reason: NO_DM },
  'DeviceMemoryTest.test_dm_remote_write_traffic_imm': { reason: NO_DM },
  'DeviceMemoryTest.test_dm_remote_read_traffic': { reason: NO_DM },
  'DeviceMemoryTest.test_dm_atomic_fetch_add': { reason: NO_DM },
  'DeviceMemoryTest.test_dm_atomic_cmp_swp': { reason: NO_DM },
};
