import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CProgram, compilerProblem } from './c-program.js';
import { cannotRun, run } from './support.js';

const FIRST = 31;

describe(
  'under --explain a program is told',
  { skip: cannotRun !== false ? cannotRun : (compilerProblem() ?? false) },
  () => {
    let program: CProgram;
    before(() => void (program = new CProgram('adapters')));
    after(() => program.remove());

    const told = async (what: string, at: number, limit?: string): Promise<string> => {
      const limited = limit === undefined ? [] : ['sh', '-c', `ulimit -S -l ${limit} && exec "$@"`, 'sh'];
      const words = [...limited, program.path, what];
      const { code, errors } = await run(words, ['--explain'], FIRST + at);
      assert.equal(code, 0, errors);
      return errors;
    };

    it('that an adapter would refuse more requests in a row that are not signaled than its queue holds', async () => {
      assert.match(
        await told('unsignaled', 0),
        /^verbena run: adapters \(pid \d+\), QP 0x\w+: passes here, and fails on an adapter: 100 requests in a row were not IBV_SEND_SIGNALED, more than its send queue holds \(31\)/,
      );
    });

    it('nothing where one in sixteen is signaled and polled', async () => {
      assert.equal(await told('signaled now and then', 1), '');
    });

    it('that an adapter would not pin more memory than ulimit -l allows', async () => {
      assert.match(
        await told('memory', 2, '64'),
        /ibv_reg_mr: passes here, and fails on an adapter: 2097152 bytes are registered, more than ulimit -l allows \(65536 bytes\)/,
      );
    });

    it('why a datagram was dropped, which no completion tells', async () => {
      assert.match(
        await told('datagram', 3),
        /QP 0x\w+ \(UD\): dropped a message: it needs 104 bytes \(a datagram has 40 of GRH in front\), the receive request has 64/,
      );
    });
  },
);
