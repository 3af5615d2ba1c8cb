import { casesOf } from './types.js';

export const pyverbsSharedPd = casesOf('pyverbs', 'tests/test_shared_pd.py', {
  'SharedPDTestCase.test_imported_rc_ex_rdma_write':
    'A context on a duplicated command fd imports PD and region by handle; RC WRITE by the extended send calls, both ways, works between it and a plain side; then unimport.',
});
