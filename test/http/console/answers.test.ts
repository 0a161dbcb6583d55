import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { PostgresUnavailable } from '#src/db/outage.ts'
import {
  failedDecision,
  needsGroup,
  needsOperate,
  needsToken,
  notFound,
  notPossible,
  notServing,
  refused,
  tooManyTokens,
  unreadable,
  usedCode,
  wrongAddress,
} from '#src/http/console/answers.ts'

/* The pages that say why a request was not answered as it was asked: each whole. */

const problem = (words: string) => `<p class="problem">${words}</p>`
const TOKEN = problem(
  'The console needs a token. Enter any name, and the token as the password. A script sends it as Authorization: Bearer TOKEN.',
)
const again = (path: string) =>
  `<p>If you are signed in and followed a link from another site, <a href="${path}">open this page again</a>.</p>`
const PRINTED =
  '<p><code>ferry up</code> prints a new sign-in address at each start. The token is also in the file <code>console-token</code> of its data directory.</p>'
const USED =
  'This sign-in address was used already, or belongs to an earlier start. <code>ferry up</code> prints a new one at each start.'
const BY_TOKEN =
  '<p>Or <a href="/">sign in with the token</a>: enter any name, and as the password the content of the file <code>console-token</code> in Ferry\'s data directory.</p>'
const notFoundAt = (path: string, words: string) =>
  `<p>The address <code>${path}</code> is not known here. What it led to may have been removed after its time.</p>
<form class="search" method="get" action="/search" role="search" aria-label="Search for it">
<input type="search" name="q" value="${words}" aria-label="Search for it" placeholder="Search" maxlength="200"> <button>Search</button>
</form>
<p><a href="/">Go to Now</a></p>`

const late = Object.assign(new DatabaseError('too late', 1, 'error'), { code: '57014' })
const denied = Object.assign(new DatabaseError('denied', 1, 'error'), { code: '42501' })
const DATABASE = { url: 'postgres://here/ferry', setting: 'DATABASE_URL' } as never
const decided = (error: unknown) => failedDecision(error, '/imports/7/pause', '/imports/7')
const AUDIT = '<a href="/ledger/audit">audit</a> and <a href="/imports/7">its page</a>'
const UNKNOWN = problem(
  `This failed half-way. It may or may not have been done: check the ${AUDIT} before you <a href="/imports/7/pause">try again</a>. The reason is in the log of this worker.`,
)
const UNREACHED = problem(
  `Postgres cannot be reached, so nothing was done. <a href="/imports/7/pause">Try again</a> once it can be reached: the ${AUDIT} will show the current state. The reason is in the log of this worker.`,
)
const NO_ANSWER = problem(
  'Postgres could not answer. This page retries automatically. The reason is in the log of this worker.',
)

test.for([
  ['a refusal', refused(409, 'No <b>.'), 409, 'Not done', problem('No &lt;b&gt;.')],
  ['no token', needsToken('/a?b=1&c', false), 401, 'Sign in', TOKEN + again('/a?b=1&amp;c')],
  ['no token, of `ferry up`', needsToken('/', true), 401, 'Sign in', TOKEN + PRINTED + again('/')],
  [
    'too many tokens',
    tooManyTokens(6),
    429,
    'Not done',
    problem('Too many wrong tokens came from your address. Try again in 6 s.'),
  ],
  ['a used address', usedCode(), 403, 'Not signed in', problem(USED) + BY_TOKEN],
  [
    'a wrong address',
    wrongAddress('Wrong.', '/rules'),
    400,
    'Wrong address',
    `${problem('Wrong.')}<p><a class="button" href="/rules">Show all</a></p>`,
  ],
  [
    'what is not possible now',
    notPossible('Too late.', '/imports/7'),
    409,
    'Not done',
    `${problem('Too late.')}<p><a class="button" href="/imports/7">Show it as it is now</a></p>`,
  ],
  ['a number', notFound('/rules/a/42/x'), 404, 'Not found', notFoundAt('/rules/a/42/x', '42')],
  ['a name', notFound('/rules/b%20c'), 404, 'Not found', notFoundAt('/rules/b%20c', 'b c')],
  ['no text', notFound('/rules/%ff'), 404, 'Not found', notFoundAt('/rules/%ff', '')],
  ['nothing', notFound('//'), 404, 'Not found', notFoundAt('//', '')],
  [
    'a long name',
    notFound(`/${'x'.repeat(201)}`),
    404,
    'Not found',
    notFoundAt(`/${'x'.repeat(198)}…`, 'x'.repeat(200)),
  ],
  [
    'what only some may do',
    needsOperate('/imports/7?a=1&b'),
    403,
    'Operate token required',
    '<p>This page needs the operate token (<code>FERRY_CONSOLE_TOKEN</code>). <a href="/sign-in?to=%2Fimports%2F7%3Fa%3D1%26b">Sign in with it</a>.</p>',
  ],
  [
    'what only some groups may do',
    needsGroup('anna'),
    403,
    'Not done',
    problem('anna may read, not decide: FERRY_CONSOLE_TRUST_GROUPS says which groups have full access.'),
  ],
  [
    'a worker that starts',
    notServing(),
    503,
    'Unavailable',
    problem('This worker is starting or stopping. This page retries automatically.'),
    2_000,
  ],
  ['no Postgres', unreadable(new Error('x')), 503, 'Unavailable', NO_ANSWER, 5_000],
  ['a Postgres that refuses', unreadable(denied), 503, 'Unavailable', NO_ANSWER, 5_000],
  [
    'a slow Postgres',
    unreadable(late),
    503,
    'Unavailable',
    problem(
      'Postgres took longer than two seconds for this page. Add a filter, or try again when the database is less busy.',
    ),
    5_000,
  ],
  [
    'a decision without Postgres',
    decided(new PostgresUnavailable(DATABASE, new Error('x'), true)),
    503,
    'Not done',
    UNREACHED,
  ],
  [
    'a decision that lost Postgres',
    decided(new PostgresUnavailable(DATABASE, new Error('x'))),
    503,
    'Outcome unknown',
    UNKNOWN,
  ],
  ['a decision that failed', decided(new Error('x')), 503, 'Outcome unknown', UNKNOWN],
] as const)('the page about %s', ([, answer, status, title, body, refreshEveryMs]) => {
  expect('body' in answer && { ...answer, body: `${answer.body}` }).toEqual({
    status,
    title,
    body,
    ...(refreshEveryMs && { refreshEveryMs }),
  })
})
