import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { createForms, createFormTokens } from '#src/http/console/forms.ts'
import { html } from '#src/http/console/html.ts'
import { type Action, type Lookup, NotPossible, type PageRequest } from '#src/http/console/page.ts'
import { Secret } from '#src/model/secret.ts'

/* The pages with a form, each whole, and what is answered when it is sent. */

const TOKEN = new Secret('operate-1234567890')
const PATH = '/imports/7/pause'
const ASKED = { path: PATH, visitor: { actor: 'anna' } } as PageRequest
const forms = createForms(TOKEN)

/** The page of an answer, without the token of its form. */
const bodyOf = (answer: object) =>
  'body' in answer
    ? `${answer.body}`.replace(/name="token" value="\d+\.[\w-]{43}"/, 'name="token" value="TOKEN"')
    : ''

const confirmed = {
  title: 'Pause?',
  body: html`<p>It stops.</p>`,
  button: 'Pause import 7',
  back: '/imports/7',
}
const action = (more: Partial<Action>): Action => ({
  path: PATH,
  section: 'imports',
  backFrom: () => '/imports/7',
  confirm: async () => confirmed,
  act: async () => '/imports/7',
  ...more,
})

test.for([
  [false, 'primary'],
  [true, 'danger'],
] as const)(
  'a confirmation says what will happen, asks why, and has a button; if it is dangerous: %s',
  async ([isDangerous, style]) => {
    const answer = await forms.confirm(
      action({ confirm: async () => ({ ...confirmed, isDangerous }) }),
      ASKED,
    )
    expect(answer).toMatchObject({ status: 200, title: 'Pause?' })
    expect(bodyOf(answer)).toBe(`<form class="confirmation" method="post" action="/imports/7/pause">
<p>It stops.</p>
<label>Why? <input type="text" name="because" maxlength="1000" autocomplete="off"> <small>Recorded in the audit log.</small></label>
<input type="hidden" name="token" value="TOKEN">
<p class="buttons"><button class="${style}">Pause import 7</button> <a class="button" href="/imports/7">Back</a></p>
</form>`)
  },
)

test('where nothing is left to decide a confirmation leads on, and of what is not there it is not found', async () => {
  expect(await forms.confirm(action({ confirm: async () => ({ goTo: '/x' }) }), ASKED)).toEqual({
    goTo: '/x',
  })
  expect(await forms.confirm(action({ confirm: async () => null }), ASKED)).toMatchObject({ status: 404 })
})

const lookup = (found: string | null): Lookup => ({
  path: PATH,
  section: 'imports',
  look: async (_, form) =>
    ({
      title: 'Recipient',
      fields: html`<input name="recipient">`,
      button: 'Look up',
      found: form === null ? found : html`<p>${form.get('recipient')} was sent.</p>`,
      back: '/imports/7',
    }) as never,
})
const FORM = `<form class="confirmation" method="post" action="/imports/7/pause" autocomplete="off">
<input name="recipient">
<input type="hidden" name="token" value="TOKEN">
<p class="buttons"><button class="primary">Look up</button> <a class="button" href="/imports/7">Back</a></p>
</form>`

const sent = (fields: Record<string, string>, headers: object = { 'sec-fetch-site': 'same-origin' }) =>
  ({ headers, body: new URLSearchParams(fields) }) as never
const token = () => createFormTokens(TOKEN).issue(PATH)

test('the form of a lookup is below what was found, and the browser keeps nothing of it', async () => {
  expect(bodyOf(await forms.ask(lookup(null), ASKED))).toBe(FORM)
  const answer = await forms.look(lookup(null), ASKED, sent({ token: token(), recipient: 'ada' }))
  expect(answer).toMatchObject({ status: 200, title: 'Recipient' })
  expect(bodyOf(answer)).toBe(`<p>ada was sent.</p>${FORM}`)
  expect(await forms.ask({ ...lookup(null), look: async () => null }, ASKED)).toMatchObject({ status: 404 })
})

const ELSEWHERE = '<p class="problem">This form was not sent by a page of this console. Nothing was done.</p>'
const EXPIRED =
  '<p class="problem">This form has expired, or is not from this console. Nothing was done. Open the page again.</p>'

test.for([
  ['another site', sent({ token: token() }, { 'sec-fetch-site': 'cross-site' }), ELSEWHERE],
  ['nobody knows whom', sent({ token: token() }, {}), ELSEWHERE],
  ['a page that has expired', sent({ token: 'old' }), EXPIRED],
  [
    'a page without a form',
    { headers: { 'sec-fetch-site': 'same-origin' }, body: undefined } as never,
    EXPIRED,
  ],
] as const)('a form that was sent by %s does nothing and says so', async ([, request, words]) => {
  let acts = 0
  const act = async () => `${++acts}`
  for (const answer of [
    await forms.carryOut(action({ act }), ASKED, request),
    await forms.look(lookup(null), ASKED, request),
  ]) {
    expect(answer).toMatchObject({ status: 403, title: 'Not done' })
    expect(bodyOf(answer)).toBe(words)
  }
  expect(acts).toBe(0)
})

class Refused extends Error {
  override readonly name = 'Refused'
  readonly whatToDo: string | undefined
  constructor(whatToDo?: string) {
    super('It is not allowed.')
    this.whatToDo = whatToDo
  }
}

test('a decision that is refused says why and what to do; the name and the reason reach it', async () => {
  const heard: unknown[] = []
  const carriedOut = (act: Action['act'], fields = {}) =>
    forms.carryOut(action({ act }), ASKED, sent({ token: token(), ...fields }))
  const hear: Action['act'] = async (_, by) => {
    heard.push(by)
    return '/imports/7'
  }
  for (const because of [' too loud ', ' ', 'x'.repeat(1_000)])
    expect(await carriedOut(hear, { because })).toEqual({ goTo: '/imports/7' })
  expect(heard).toEqual(['too loud', null, 'x'.repeat(1_000)].map(because => ({ actor: 'anna', because })))
  const tooLong = await carriedOut(hear, { because: 'x'.repeat(1_001) })
  expect(tooLong).toMatchObject({ status: 400 })
  expect(heard).toHaveLength(3)
  expect(await carriedOut(async () => null)).toMatchObject({ status: 404 })
  const failing = (error: Error) => carriedOut(async () => Promise.reject(error))
  expect(bodyOf(await failing(new Refused()))).toBe('<p class="problem">It is not allowed.</p>')
  const advised = await failing(new Refused('Ask anna.'))
  expect(advised).toMatchObject({ status: 409 })
  expect(bodyOf(advised)).toBe('<p class="problem">It is not allowed. Ask anna.</p>')
  // What is no refusal is answered by whoever asked.
  for (const fault of [new Error('x'), new DatabaseError('x', 1, 'error'), new NotPossible('x', '/')])
    await expect(failing(fault)).rejects.toBe(fault)
})
