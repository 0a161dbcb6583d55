import type { AlertRule } from '#src/model/alert-rule.ts'
import type { Quarantined } from '#src/model/listing.ts'
import type { Answer } from '#src/platform/answer.ts'
import type { CallContext, PlatformClient } from '#src/platform/client.ts'
import type { GoodRow, ListingEnd, ListingStep } from '#src/platform/listing.ts'

/** The rows of a listing as far as they count. Those with a digest in `known` are counted, not parsed. */
export function collectRows<Row = AlertRule>(known: ReadonlySet<string> = new Set()) {
  const taken = {
    good: [] as GoodRow<Row>[],
    quarantined: [] as Quarantined[],
    known: 0,
    begun: 0,
    find: (digest: string) => (known.has(digest) ? 0 : -1),
    /** Takes one step of a listing. */
    take(step: ListingStep<Row>): void {
      if (step.kind === 'begins')
        Object.assign(taken, { good: [], quarantined: [], known: 0, begun: taken.begun + 1 })
      if (step.kind !== 'rows') return
      for (const row of step.rows) {
        if (row.kind === 'good') taken.good.push(row)
        else if (row.kind === 'known') taken.known += 1
        else {
          const { kind: _, digest: __, ...quarantined } = row
          taken.quarantined.push(quarantined)
        }
      }
    },
  }
  return taken
}

/** Lists the rules of a folder. Between two steps it waits for `pause`. */
export async function listRules(
  client: Pick<PlatformClient, 'listAlertRules'>,
  context: CallContext,
  {
    taken = collectRows(),
    folder = 0n,
    pause = (_: ListingStep<AlertRule>): Promise<unknown> => Promise.resolve(),
  } = {},
): Promise<Answer<ListingEnd>> {
  for await (const step of client.listAlertRules(folder, taken.find, context)) {
    taken.take(step)
    await pause(step)
    if (step.kind === 'ended') return step.answer
  }
  throw new Error('the listing has no end')
}
