import type { CallRow } from '#src/inventory/list-runs.ts'
import { NO_ANSWER, NO_CALL } from '#src/inventory/run-words.ts'
import { duration, fits, instant, printTable } from '../output.ts'

/** If the table is too wide, an error stands above the request_id: a broken id cannot be searched for. */
export function printCalls(calls: readonly CallRow[]): void {
  const head = ['operation', 'started', 'took', 'HTTP']
  const cells = (call: CallRow) => [
    call.operation,
    instant(call.started),
    call.finished === null ? NO_ANSWER : duration(call.finished.getTime() - call.started.getTime()),
    call.httpStatus,
  ]
  const wide = [...head, 'error', 'request_id']
  const rows = calls.map(call => [...cells(call), call.errorCode, call.requestId])
  if (fits(wide, rows)) {
    printTable(wide, rows, NO_CALL)
    return
  }
  const narrow = calls.map(call => [
    ...cells(call),
    [call.errorCode, call.requestId].filter(Boolean).join(' '),
  ])
  printTable([...head, 'error, request_id'], narrow, NO_CALL)
}
