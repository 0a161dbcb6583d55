import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type InsteadOf, openGateway } from '#test/support/gateway.ts'
import { disagreements, ledgerOf } from '#test/support/import-ledger.ts'
import { openImportHarness } from '../imports/import-harness.ts'

/*
 * A gateway between Ferry and the platform answers for it, whole or cut short, after the platform has taken the batch. Whatever
 * it answers: whoever was delivered twice is counted as resent, and with `hold` nobody is delivered twice.
 */

const TIMEOUT_OF_GATEWAY = { error: { code: 'upstream_timeout', message: 'No.' } }
const CODES: Readonly<Record<number, string>> = {
  409: 'UndonedOrderExist',
  423: 'RequestLocked',
  503: 'ServiceUnavailable',
  504: 'ServiceUnavailable',
}

function json(status: number, body: object, { cut = false } = {}): InsteadOf {
  return response => {
    const text = JSON.stringify(body)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': text.length,
      'x-request-id': 'gateway-1',
      location: 'https://sso.example.com/',
    })
    if (cut) response.write(text.slice(0, text.length / 2), () => response.destroy())
    else response.end(text)
  }
}
const page =
  (status: number): InsteadOf =>
  response =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>')

const answers: [what: string, InsteadOf][] = [
  ...Object.entries(CODES).flatMap(([text, code]): [string, InsteadOf][] => {
    const status = Number(text)
    const ofContract = { error: { code, message: 'No.' } }
    return [
      [`${status} with a code of its own`, json(status, TIMEOUT_OF_GATEWAY)],
      [
        `${status} with a code and a request_id of its own`,
        json(status, { ...TIMEOUT_OF_GATEWAY, request_id: 'g' }),
      ],
      [`${status} with a code of the contract`, json(status, ofContract)],
      [`${status} of which half came`, json(status, { ...ofContract, request_id: 'r' }, { cut: true })],
      [`${status} with a page`, page(status)],
    ]
  }),
  ['a redirect', json(302, {})],
  ['413 with a page', page(413)],
  ['403 with a code of its own', json(403, TIMEOUT_OF_GATEWAY)],
]

const ROWS = 20

test.for(answers)(
  'whoever a call reached is counted, if a gateway answers it with %s',
  async ([, instead]) => {
    await using harness = await openImportHarness()
    for (const onUncertain of ['resend', 'hold'] as const) {
      const id = await harness.stage({
        rows: ROWS,
        batchRows: 5,
        onUncertain,
        recipient: line => `${onUncertain}-${line}@example.com`,
      })
      await using gateway = await openGateway(harness.sandbox.baseUrl, n => (n === 2 ? instead : null))
      const ferry = await harness.openFerry({ FERRY_BASE_URL: gateway.url })
      let end = await harness.work(id, { ferry })
      if (end === 'paused') {
        await resumeImport(harness.ferry.pool, id, ADA)
        end = await harness.work(id, { ferry })
      }
      const delivered = [...harness.delivered()]
        .filter(([recipient]) => recipient.startsWith(onUncertain))
        .map(([recipient, deliveries]) => ({ recipient, deliveries }))
      const twice = delivered.filter(one => one.deliveries > 1).length
      expect(delivered).toHaveLength(ROWS)
      const ledger = await ledgerOf(harness.ferry.pool, id)
      expect(disagreements(ledger, delivered as never)).toEqual([])
      expect(ledger.filter(one => one.resends > 0)).toHaveLength(onUncertain === 'resend' ? 5 : 0)
      expect({ end, twice }).toEqual(
        onUncertain === 'resend' ? { end: 'completed', twice: 5 } : { end: 'undecided', twice: 0 },
      )
      if (onUncertain === 'hold') await resolveUncertain(harness.ferry.pool, id, 'sent', ADA)
      expect((await harness.importRow(id)).status).toBe('completed')
    }
  },
)
