import type { AlertRule } from '#src/model/alert-rule.ts'
import type { Quarantined } from '#src/model/listing.ts'
import type { GoodRow, RowSink } from '#src/platform/row-sink.ts'

/** Takes the rows of a listing and keeps them. Those with a digest in `known` are counted, not parsed. */
export function collectRows<Row = AlertRule>(known: ReadonlySet<string> = new Set()) {
  const taken = { good: [] as GoodRow<Row>[], quarantined: [] as Quarantined[], known: 0, begun: 0 }
  const sink: RowSink<Row> = {
    ready: async () => {},
    begin() {
      Object.assign(taken, { good: [], quarantined: [], known: 0, begun: taken.begun + 1 })
    },
    knows(digest) {
      if (known.has(digest)) taken.known += 1
      return known.has(digest)
    },
    take(row) {
      if ('row' in row) taken.good.push(row)
      else taken.quarantined.push(row)
    },
    settle: async () => {},
  }
  return Object.assign(taken, sink)
}
