import type { Pool } from 'pg'
import type { Page } from 'playwright-core'
import { wireJson } from '#src/sandbox/json.ts'
import { pauseSchedules } from '#src/schedules/control.ts'
import { letTimePass } from '#test/support/let-time-pass.ts'
import { accepted, naming, refused, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import type { ConsoleHarness } from '../console-harness.ts'

/** Names as somebody gives them who wants to break a page, or who cannot help it. */
const NAMES = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)' autofocus onfocus='alert(1)",
  '</title></main></body><h1 class="owned">owned</h1>',
  '<style>*{display:none}</style><base href="https://evil.example/">',
  'javascript:alert(1)',
  '{{7*7}} &lt;b&gt; &amp; %3Cscript%3E',
  '\u202Eevil \u2066txt.exe\u2069 \u200F',
  'שלום عالم',
  'W'.repeat(3_000),
  'long words with spaces '.repeat(130),
  '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(40),
  `Z${'\u0300\u0301\u0302'.repeat(60)}algo`,
  '',
  ' \t\n ',
]

/** Gives such names to whatever has one: rules, people, labels, servers, tools, files, answers of the platform, decisions. */
export async function fillHostileData({ ferry, sandbox, sync, query }: ConsoleHarness): Promise<void> {
  const { pool } = ferry
  const { state } = sandbox
  sandbox.breakContract()
  const syncBoth = async () => {
    await sync()
    await sync({ resource: 'mcp-servers' })
  }
  await syncBoth()
  for (const shift of [0, 1]) {
    await letTimePass(pool, '50 minutes')
    const nameAt = (index: number) => NAMES[(index + shift) % NAMES.length] ?? ''
    for (const [index, id] of state.rules.ids().entries()) state.changeRule(id, hostileRule(nameAt, index))
    for (const [index, id] of state.servers.ids().entries())
      state.changeServer(id, hostileServer(nameAt, index))
    if (shift === 0) state.addServer({ ...hostileServer(nameAt, 3), server_id: '../..%2F?a=1#"><b>' })
    await syncBoth()
  }
  await letTimePass(pool, '10 minutes')
  // What Ferry keeps of lone surrogates and of U+0000, and a row that it cannot read at all.
  const [first, ...others] = state.rules.rows()
  const damaged = wireJson([{ ...first, name: 'SURROGATE' }, ...others])
  state.replaceRulesBody(
    damaged
      .replace('SURROGATE', '\\ud800 lone \\udc00 \\u0000')
      .replace(/\]$/, `,{"name":${JSON.stringify(NAMES[1])}}]`),
  )
  await sync()
  state.inject({ kind: 'error', code: '<b>Code</b>', message: NAMES[1] })
  await sync()
  state.clearFaults()
  await importHostileFiles(pool)
  const keys = [{ schedule: 'poll-alert-rules', account: 'default' }]
  for (const name of NAMES) {
    await query('delete from ferry.schedule_pauses')
    await pauseSchedules(pool, keys, { actor: name.slice(0, 200) || '?', because: name.slice(0, 1_000) })
  }
}

function hostileRule(nameAt: (index: number) => string, index: number) {
  return {
    name: nameAt(index),
    labels: { [nameAt(index + 1)]: nameAt(index + 2), team: nameAt(index + 3), severity: nameAt(index + 4) },
    ds_type: nameAt(index + 5),
    cron_pattern: nameAt(index + 6),
    timezone: nameAt(index + 7),
    creator_name: nameAt(index + 8),
    updater_name: nameAt(index + 9),
    triggered: true,
  }
}

function hostileServer(nameAt: (index: number) => string, index: number) {
  return {
    server_name: nameAt(index),
    description: nameAt(index + 1),
    url: nameAt(index + 5),
    transport: nameAt(index + 2),
    status: nameAt(index + 3),
    auth_mode: nameAt(index + 4),
    tools: NAMES.slice(0, 6).map((_, tool) => ({
      name: nameAt(index + tool),
      description: nameAt(index + tool + 1),
    })),
  }
}

async function importHostileFiles(pool: Pool): Promise<void> {
  for (const [index, name] of NAMES.entries()) {
    const file = name.replaceAll('\0', '') || 'x'
    const id = await stageRows(pool, { rows: 20, batchRows: 5, pageId: BigInt(index + 1), file })
    if (index > 2) continue
    const poisoned = naming('p2@example.com')
    await sendBatches(pool, id, [
      accepted(name),
      poisoned,
      refused(401, '<i>Code</i>', { message: name, requestId: name }),
    ])
  }
}

/** Returns what only markup in a name could have brought into the page. */
export async function markupThatWorks(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const strange = document.querySelectorAll(
      '.owned, [onerror], [onmouseover], [onfocus], [autofocus], base, style, img[src="x"], script:not([src]), [href^="javascript:"], h1 ~ h1')
    const isIsolated = element => getComputedStyle(element).unicodeBidi.startsWith('isolate')
    const outside = new Set()
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode
      if (!/[\\u202A-\\u202E\\u2066-\\u2069\\u0590-\\u06FF]/.test(data) || parentElement.matches('option, title')) continue
      let around = parentElement
      while (!isIsolated(around) && around !== document.body) around = around.parentElement
      if (around.textContent.trim() !== data.trim()) outside.add(around)
    }
    return [
      ...[...strange].slice(0, 3).map(element => 'has ' + element.outerHTML.slice(0, 160)),
      ...[...outside].slice(0, 3).map(element => 'may be turned around: ' + element.outerHTML.slice(0, 160)),
    ]
  })()`)
}
