import { type Mapping, type MappingEntry, testsOf } from './types.js';

const threads = testsOf('threaded-devices', 'five threads at the same time');

const note = 'A context belongs to the thread that opened it, so each thread has a device of its own.';

const oneByOne = (kind: string): MappingEntry => ({ test: threads(`make and end ${kind} one by one`), note });
const allAtOnce = (kind: string): MappingEntry => ({
  test: threads(`make many ${kind}, have them all at once, and end them`),
  note,
});

export const mapping: Mapping = {
  'ThreadedTest.CreateDestroyAh': oneByOne('AHs'),
  'ThreadedTest.CreateDestroyCq': oneByOne('CQs'),
  'ThreadedTest.CreateDestroyCqEx': oneByOne('extended CQs'),
  'ThreadedTest.AllocDeallocPd': oneByOne('PDs'),
  'ThreadedTest.RegDeregMr': oneByOne('MRs'),
  'ThreadedTest.AllocDeallocMw': oneByOne('MWs'),
  'ThreadedTest.CreateDestroyQp': oneByOne('QPs'),
  'ThreadedTest.CreateDestroySrq': oneByOne('SRQs'),
  'ThreadedTest.CreateAh': allAtOnce('AHs'),
  'ThreadedTest.CreateCq': allAtOnce('CQs'),
  'ThreadedTest.CreateCqEx': allAtOnce('extended CQs'),
  'ThreadedTest.AllocPd': allAtOnce('PDs'),
  'ThreadedTest.RegMr': allAtOnce('MRs'),
  'ThreadedTest.AllocMw': allAtOnce('MWs'),
  'ThreadedTest.CreateQp': allAtOnce('QPs'),
  'ThreadedTest.CreateSrq': allAtOnce('SRQs'),
  'ThreadedWorkloadTest.QpLifecycle': {
    test: threads('make connections that do READs one by one, and end them, over and over'),
    note,
  },
  'ThreadedWorkloadTest.QpDestroyTargetWhileActive': {
    test: threads('destroy the targets of READs under way, while READs beside them go on'),
    note: `${note} Both pairs are on one device, and twenty targets are destroyed in each thread.`,
  },
};
