import { expect, test } from 'vitest'
import type { Visitor } from '#src/http/console/access.ts'
import { html } from '#src/http/console/html.ts'
import { type Frame, pageOf } from '#src/http/console/layout.ts'

const FRAME: Frame = {
  title: 'A <b> \u200b',
  section: 'imports',
  here: '/imports?status=paused&account=a',
  visitor: { access: 'operate', actor: 'anna <b>' },
  timezone: 'Europe/Berlin',
  isFailure: false,
  assets: { style: '/assets/s.css', script: '/assets/s.js', icon: '/assets/i.svg' },
}

/** A whole page, without the instant at which it was made. */
const draw = (frame: Partial<Frame>) =>
  `${pageOf({ ...FRAME, ...frame }, html`<p>body</p>`)}`.replace(
    /<time datetime="[-\d]+T[:.\d]+Z">[-\d]+ [:\d]+<\/time>/,
    'NOW',
  )

test('a page stands between the navigation, in which its section is marked, and who looks at it', () => {
  expect(draw({})).toBe(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A &lt;b&gt; U+200B · Ferry</title>
<link rel="stylesheet" href="/assets/s.css">
<link rel="icon" href="/assets/i.svg" type="image/svg+xml">
<script src="/assets/s.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="brand" href="/"><img src="/assets/i.svg" alt="" width="20" height="20">Ferry</a>
<nav aria-label="Pages"><ul><li><a href="/">Now</a></li><li><a href="/rules">Rules</a></li><li><a href="/changes">Changes</a></li><li><a href="/firing">Firing</a></li><li><a href="/imports" aria-current="page">Imports</a></li><li><a href="/servers">MCP</a></li><li><a href="/ledger">Activity</a></li></ul></nav>
<form class="search" method="get" action="/search" role="search" aria-label="Search">
<input type="search" name="q" value="" aria-label="Search" placeholder="Search" maxlength="200"> <button>Search</button>
</form>
</header>
<main id="main" tabindex="-1">
<h1>A &lt;b&gt; \u200b</h1>
<p>body</p>
</main>
<footer>
<p>As of <span data-as-of>NOW</span>. Times in Europe/Berlin. Signed in as <bdi>anna &lt;b&gt;</bdi>.</p>
<p data-live role="status" class="visually-hidden"></p>
</footer>
</body>
</html>`)
})

test('a page that could not be made says so to the script, and how often it looks again', () => {
  const page = draw({ heading: html`<i>Gone</i>`, section: null, isFailure: true, refreshEveryMs: 2_000 })
  expect(/<main.*?<\/main>/s.exec(page)?.[0]).toBe(
    '<main id="main" tabindex="-1" class="failed" data-refresh="2000">\n<h1><i>Gone</i></h1>\n<p>body</p>\n</main>',
  )
  expect(page).not.toContain('aria-current')
})

const SIGN_IN = '<a href="/sign-in?to=%2Fimports%3Fstatus%3Dpaused%26account%3Da">Sign in to decide</a>'

test.for<[string, Visitor | null, string]>([
  ['decide', { access: 'operate', actor: 'anna' }, 'Signed in as <bdi>anna</bdi>.'],
  [
    'decide, by the proxy',
    { access: 'operate', actor: 'anna', byProxy: true },
    'Signed in as <bdi>anna</bdi>.',
  ],
  ['read', { access: 'read', actor: 'sam' }, `Read-only as <bdi>sam</bdi>. ${SIGN_IN}`],
  ['read, by the proxy', { access: 'read', actor: 'sam', byProxy: true }, 'Read-only as <bdi>sam</bdi>.'],
  ['do nothing', null, ''],
])('the foot of a page says as whom somebody is here who may %s', ([, visitor, words]) => {
  const page = draw({ visitor })
  expect(/Times in Europe\/Berlin\. (.*?)<\/p>/.exec(page)?.[1]).toBe(words)
  // Nobody searches who has not signed in.
  expect(page.includes('role="search"')).toBe(visitor !== null)
})
