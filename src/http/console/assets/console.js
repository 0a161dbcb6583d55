// Shows times in the reader's zone, and fetches the page anew. Without script the pages work as well.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const inZone = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })

function localize(root) {
  for (const element of root.querySelectorAll('time[datetime]')) {
    const at = new Date(element.dateTime)
    if (!Number.isNaN(at.getTime())) element.textContent = inZone.format(at)
  }
}
localize(document)
for (const element of document.querySelectorAll('[data-zone]')) element.textContent = zone

const live = document.querySelector('[data-live]')
const main = () => document.querySelector('main')

// Nothing changes under somebody who types, reads a menu, selects text or decides.
function isBusy() {
  const focused = document.activeElement
  const inMain = focused && focused !== main() && main().contains(focused)
  return inMain || document.querySelector('dialog[open]') || !getSelection().isCollapsed
}

function states(root) {
  const found = [...root.querySelectorAll('[data-announce]')]
  return new Map(found.map(element => [element.dataset.announce, element.textContent.trim()]))
}

function replaceMain(text) {
  const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main')
  if (!next) return
  localize(next)
  const before = states(main())
  const changed = [...states(next)].filter(([of, state]) => before.has(of) && before.get(of) !== state)
  const open = [...main().querySelectorAll('details[open][id]')].map(element => element.id)
  main().replaceWith(document.importNode(next, true))
  for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  if (changed.length > 0) live.textContent = changed.map(([of, state]) => `${of}: ${state}`).join('. ')
}

let isLost = false
async function refresh() {
  if (document.hidden || isBusy()) return
  try {
    const response = await fetch(location.href, { redirect: 'error', signal: AbortSignal.timeout(10_000) })
    const text = await response.text()
    if (isBusy()) return
    if (!response.headers.get('content-type')?.startsWith('text/html')) throw new Error('no page')
    replaceMain(text)
    setLost(false)
  } catch {
    setLost(true)
  }
}

function setLost(lost) {
  if (lost === isLost) return
  isLost = lost
  document.body.classList.toggle('lost', lost)
  live.textContent = lost ? 'Ferry does not answer. What is shown is old.' : 'Ferry answers again.'
}

const everyMs = Number(main().dataset.refresh)
if (everyMs > 0) setInterval(refresh, everyMs)
