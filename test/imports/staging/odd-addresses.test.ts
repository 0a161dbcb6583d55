import { expect, test } from 'vitest'
import { openRecipientCheck } from '#src/imports/staging/checks/recipient.ts'

const L63 = 'd'.repeat(63)

/**
 * Addresses of e-mail at the edges of their rules, such as the public collections of test data hold: those taken as they
 * are, those that only `--lenient-addresses` takes, and those never taken.
 */
const ADDRESSES = {
  taken: [
    'a@b.co',
    'first.last@example.com',
    '123@example.com',
    "!#$%&'*+-/=?^_`{|}~@example.com",
    'a+b+c@example.com',
    'a@1.example.com',
    'a@example.co.uk',
    'a@a-b.example.com',
    `${'a'.repeat(64)}@example.com`,
    `a@${L63}.com`,
    'a@xn--fsqu00a.xn--0zwm56d',
    'αβγ@παράδειγμα.gr',
    '用户@例子.中国',
    'jörg@example.com',
    'a@i❤.ws',
    'a@i❤\u{fe0f}.ws',
    'a・b@例え.jp',
    'a@b.museum',
    'a@example.travel',
  ],
  lenient: [
    'a..b@example.com',
    'a.@example.com',
    '.a@example.com',
    `${'a'.repeat(65)}@example.com`,
    'a@b_c.com',
    'a@b_c_d.com',
  ],
  never: [
    'a',
    '@',
    'a@',
    '@example.com',
    'a@b',
    'a@localhost',
    'a@@example.com',
    'a@b@example.com',
    'a@example..com',
    'a@.example.com',
    'a@example.com.',
    'a@-example.com',
    'a@example-.com',
    `a@${L63}d.com`,
    'a@[127.0.0.1]',
    'a@[IPv6:::1]',
    'a@127.0.0.1',
    'a b@example.com',
    'a@exam ple.com',
    '"a b"@example.com',
    '"a"@example.com',
    'a(comment)@example.com',
    'a@example.com(comment)',
    'a\\@b@example.com',
    'a,b@example.com',
    'a;b@example.com',
    'a:b@example.com',
    'a<b@example.com',
    'a[b@example.com',
    'a@exa$mple.com',
    'a@example.com\u200b.org',
    'a@example,com',
    'mailto:a@example.com',
    'http://example.com/a@b',
    'a@xn--',
    'a@example.123',
    'ａ＠example.com',
    'a@\u202eexample.com',
  ],
}

test.for(Object.entries(ADDRESSES).flatMap(([kind, all]) => all.map(address => [kind, address] as const)))(
  '%s: %j',
  ([kind, address]) => {
    const [isTaken, isTakenLeniently] = [false, true].map(
      lenient => openRecipientCheck('email', lenient)(address) === null,
    )
    expect({ isTaken, isTakenLeniently }).toEqual({
      isTaken: kind === 'taken',
      isTakenLeniently: kind !== 'never',
    })
  },
)

test('a recipient that is too long is told its bound in what it is counted in', () => {
  const long = `${'x'.repeat(250)}@example.com`
  expect(openRecipientCheck('email', false)(long)?.message).toBe('the recipient is longer than 255 octets')
  expect(openRecipientCheck('sms', false)('7'.repeat(256))?.message).toBe(
    'the recipient is longer than 255 characters',
  )
  expect(openRecipientCheck('sms', false)('7'.repeat(255))).toBe(null)
})
