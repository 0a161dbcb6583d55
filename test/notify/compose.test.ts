import { expect, test } from 'vitest'
import { composeMessage } from '#src/notify/compose.ts'
import type { Pending } from '#src/notify/pending.ts'

const pending = (n: number): Pending => ({
  event: `${n}`,
  messageId: `${n}`,
  kind: 'run.failing',
  state: 'raised',
  account: 'default',
  subject: '',
  data: { run: `${n}`, inventory: 'alert-rules', errorCode: 'Unauthorized' },
  happenedAt: new Date(Date.UTC(2026, 0, n)),
  due: '0',
  attempts: 0,
  isRefused: false,
  now: new Date(),
})
const all = (count: number): [Pending, ...Pending[]] => [
  pending(1),
  ...Array.from({ length: count - 1 }, (_, n) => pending(n + 2)),
]

test.each([
  [1, '1 message', 1, null],
  [20, '20 messages', 20, null],
  [21, '21 messages', 20, 'and 1 more'],
  [25, '25 messages', 20, 'and 5 more'],
])('a digest of %i has all messages for programs, and names 20 at most', (count, counted, named, more) => {
  const digest = composeMessage(all(count), { digestCron: '0 8 * * *' }, 'https://ferry.example.com')
  expect(digest).toMatchObject({ id: 'msg_1', type: 'digest', at: new Date(Date.UTC(2026, 0, count)) })
  const { summary } = digest.data
  expect(digest.data).toHaveProperty('messages.length', count)
  const [head, ...lines] = summary.split('\n')
  expect(head).toBe(`Ferry, since the last digest: ${counted}.`)
  const dashed = lines.filter(line => line.startsWith('- '))
  expect(dashed).toHaveLength(named)
  expect(dashed[0]).toMatch(/^- \S.* https:\/\/ferry\.example\.com\/ledger\/runs\/1$/)
  expect(lines.slice(named)).toEqual(more === null ? [] : [more])
})

test('one message is itself, with a link if the console has an address', () => {
  const of = (publicUrl: string | null) => composeMessage(all(1), { digestCron: null }, publicUrl)
  expect(of('https://ferry.example.com')).toMatchObject({
    id: 'msg_1',
    type: 'run.failing',
    at: new Date(Date.UTC(2026, 0, 1)),
    data: { state: 'raised', account: 'default', link: 'https://ferry.example.com/ledger/runs/1' },
  })
  expect(of(null).data).not.toHaveProperty('link')
})
