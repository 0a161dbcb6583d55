import type { Visitor } from './access.ts'
import { type Html, html } from './html.ts'
import { SECTIONS, type Section } from './page.ts'
import { searchForm } from './parts/search-form.ts'
import { plainTime } from './parts/values.ts'
import { namedInWords } from './parts/visible.ts'

export type Frame = {
  readonly title: string
  /** Stands above the page; absent: the title. */
  readonly heading?: Html | undefined
  readonly section: Section | null
  /** The path of this page with its query: what signing in comes back to. */
  readonly here: string
  readonly visitor: Visitor | null
  /** In which times are shown. */
  readonly timezone: string
  /** Whether this page stands for one that could not be made. */
  readonly isFailure: boolean
  readonly refreshEveryMs?: number | undefined
  readonly assets: { readonly style: string; readonly script: string; readonly icon: string }
}

/** A whole page around its content. */
export function pageOf(frame: Frame, body: Html): Html {
  const {
    title,
    heading = title,
    section,
    here,
    visitor,
    timezone,
    isFailure,
    refreshEveryMs,
    assets,
  } = frame
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${namedInWords(title)} · Ferry</title>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<script src="${assets.script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="brand" href="/"><img src="${assets.icon}" alt="" width="20" height="20">Ferry</a>
<nav aria-label="Pages"><ul>${Object.entries(SECTIONS).map(
    ([id, { name, path }]) =>
      html`<li><a href="${path}"${id === section ? html` aria-current="page"` : null}>${name}</a></li>`,
  )}</ul></nav>
${visitor ? searchForm('', 'Search') : null}
</header>
<main id="main" tabindex="-1"${isFailure ? html` class="failed"` : null}${refreshEveryMs ? html` data-refresh="${refreshEveryMs}"` : null}>
<h1>${heading}</h1>
${body}
</main>
<footer>
<p>As of <span data-as-of>${plainTime(new Date(), timezone)}</span>. Times in ${timezone}. ${visitor ? accessNote(visitor, here) : null}</p>
<p data-live role="status" class="visually-hidden"></p>
</footer>
</body>
</html>`
}

function accessNote({ access, actor, byProxy }: Visitor, here: string): Html {
  if (access === 'operate') return html`Signed in as <bdi>${actor}</bdi>.`
  if (byProxy) return html`Read-only as <bdi>${actor}</bdi>.`
  const signIn = `/sign-in?${new URLSearchParams({ to: here })}`
  return html`Read-only as <bdi>${actor}</bdi>. <a href="${signIn}">Sign in to decide</a>`
}
