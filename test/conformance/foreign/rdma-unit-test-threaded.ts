import { casesOf } from './types.js';

// Five threads handle 100 objects each, or a fifth of the device limit if that is less.
export const rdmaUnitTestThreaded = casesOf('rdma-unit-test', 'unit/threaded_test.cc', {
  'ThreadedTest.CreateDestroyAh': 'Five threads create and destroy address handles on one PD in a loop: all succeed.',
  'ThreadedTest.CreateDestroyCq': 'Five threads create and destroy CQs (cqe 10) in a loop: all succeed.',
  'ThreadedTest.CreateDestroyCqEx': 'Five threads create and destroy extended CQs (cqe 10) in a loop: all succeed.',
  'ThreadedTest.AllocDeallocPd': 'Five threads allocate and free PDs in a loop: all succeed.',
  'ThreadedTest.RegDeregMr':
    'Five threads register (all access) and deregister the same page on one PD in a loop: all succeed.',
  'ThreadedTest.AllocDeallocMw':
    'Five threads allocate and free windows, type 2 and type 1 in turn, in a loop: all succeed.',
  'ThreadedTest.CreateDestroyQp': 'Five threads create and destroy RC QPs on one PD and CQ in a loop: all succeed.',
  'ThreadedTest.CreateDestroySrq': 'Five threads create and destroy SRQs on one PD in a loop: all succeed.',
  'ThreadedTest.CreateAh':
    'Five threads create 100 address handles each; all exist at once, then are destroyed with 0.',
  'ThreadedTest.CreateCq': 'Five threads create 100 CQs each; all exist at once, then are destroyed with 0.',
  'ThreadedTest.CreateCqEx': 'Five threads create 100 extended CQs each; all exist at once, then are destroyed with 0.',
  'ThreadedTest.AllocPd': 'Five threads allocate 100 PDs each; all exist at once, then are freed with 0.',
  'ThreadedTest.RegMr':
    'Five threads register the same page 100 times each; all regions exist at once, then are deregistered with 0.',
  'ThreadedTest.AllocMw':
    'Five threads allocate 100 windows each, type 2 and type 1 in turn; all exist at once, then are freed with 0.',
  'ThreadedTest.CreateQp':
    'Five threads create 100 RC QPs each on one CQ; all exist at once, then are destroyed with 0.',
  'ThreadedTest.CreateSrq': 'Five threads create 100 SRQs each; all exist at once, then are destroyed with 0.',
  'ThreadedWorkloadTest.QpLifecycle':
    '256 threads (8 on a slow device) each 64 times (8): create a CQ and a connected pair, do 2048 READs (8) one at a time, all SUCCESS, destroy QPs and CQ with 0.',
  'ThreadedWorkloadTest.QpDestroyTargetWhileActive':
    'For 30 s, 8 threads (1 on a slow device) destroy the target QP of a pair with 100 READs under way, over and over; READs on an unrelated pair keep completing SUCCESS and every destroy returns 0.',
});
