import { type Completion, type Endpoint, UcsStatus, ucsStatusName } from '../../../../protocols/ucp/bare/index.js';
import { ToolError } from '../../../kit/errors.js';

/** An endpoint whose calls are waited for. */
export class Link {
  constructor(readonly endpoint: Endpoint) {}

  /**
   * Has the endpoint do something as soon as there is room.
   *
   * @param begin is called until there is
   * @throws ToolError (the promise rejects) what became of it, where that is no good
   */
  ask(begin: (completion: Completion) => UcsStatus): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (status: UcsStatus): void => {
        if (status === UcsStatus.UCS_OK) resolve();
        else reject(new ToolError(`The transport says ${ucsStatusName(status)}.`));
      };
      const completion = { onComplete: settle };
      const retry = (): UcsStatus => {
        const status = begin(completion);
        if (status !== UcsStatus.UCS_ERR_NO_RESOURCE && status !== UcsStatus.UCS_INPROGRESS) settle(status);
        return status;
      };
      if (retry() === UcsStatus.UCS_ERR_NO_RESOURCE) this.endpoint.pendingAdd({ retry });
    });
  }

  /** All that was begun has been done, at the peer. */
  flush(): Promise<void> {
    return this.ask((completion) => this.endpoint.flush(completion));
  }
}
