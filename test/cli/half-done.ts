import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import type { Cli } from './open-cli.ts'

/** An import of ten rows, of which four are sent and three uncertain. */
export async function halfDone(cli: Cli, status = 'undecided'): Promise<bigint> {
  const id = await stageRows(cli.ferry.pool, { rows: 10, batchRows: 3 })
  await putBatches(cli.ferry.pool, id, [
    { lines: 3, state: 'sent', requestId: 'req-a' },
    { lines: 3, state: 'uncertain', uncertain: true, requestId: 'req-b', errorCode: 'InternalError' },
    { lines: 1, state: 'sent', resends: 1, requestId: 'req-c' },
  ])
  await cli.query('update ferry.imports set status = $1', [status])
  return id
}
