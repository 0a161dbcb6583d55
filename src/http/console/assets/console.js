// Keeps ages up to date, and fetches the page anew. Without script the pages work as well.
const main = document.querySelector('main')
const live = document.querySelector('[data-live]')

// The clock of the server: that of the reader may differ.
const asOf = () => Date.parse(document.querySelector('[data-as-of] time').dateTime)
let [shownAt, sinceMs] = [asOf(), performance.now()]

// The same words as the server's.
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]
function ageOf(ms) {
  const first = Math.max(
    0,
    UNITS.findIndex(([, size]) => ms >= size),
  )
  const parts = UNITS.slice(first, first + (first < 2 ? 2 : 1)).map(([unit, size], n) => {
    const whole = n === 0 ? Math.floor(ms / size) : Math.floor((ms % UNITS[first][1]) / size)
    return [whole, unit]
  })
  return `${parts
    .filter(([whole], n) => n === 0 || whole > 0)
    .map(part => part.join(' '))
    .join(' ')} ago`
}

function showAges() {
  if (!getSelection().isCollapsed) return
  const now = shownAt + performance.now() - sinceMs
  for (const element of main.querySelectorAll('time[data-ago]'))
    element.textContent = ageOf(Math.max(1_000, now - Date.parse(element.dateTime)))
}
setInterval(showAges, 10_000)

// What the forms hold. A form that was touched is not taken away.
const written = () =>
  [...main.querySelectorAll('form')].map(form => `${new URLSearchParams(new FormData(form))}`).join()
let untouched = written()

// Nothing changes under somebody who types, goes through the page by keyboard, selects text or decides.
function isBusy() {
  const isInside = main.querySelector(':focus-visible, dialog[open]') !== null
  return isInside || !getSelection().isCollapsed || written() !== untouched
}

function states(root) {
  const found = [...root.querySelectorAll('[data-announce]')]
  return new Map(found.map(element => [element.dataset.announce, element.textContent.trim()]))
}

const nameOf = details => details.id || details.querySelector('summary')?.textContent

function keepOpen(next) {
  const known = new Map([...main.querySelectorAll('details')].map(details => [nameOf(details), details.open]))
  for (const details of next.querySelectorAll('details')) {
    details.open = known.get(nameOf(details)) ?? details.open
  }
}

function show(page) {
  const next = page.querySelector('main')
  keepOpen(next)
  const before = states(main)
  const changed = [...states(next)].filter(([of, state]) => before.has(of) && before.get(of) !== state)
  main.replaceChildren(...next.childNodes)
  main.dataset.refresh = next.dataset.refresh ?? ''
  main.classList.toggle('failed', next.classList.contains('failed'))
  document.title = page.title
  for (const old of document.querySelectorAll('[data-as-of]'))
    old.replaceWith(page.querySelector('[data-as-of]'))
  ;[shownAt, sinceMs] = [asOf(), performance.now()]
  untouched = written()
  if (changed.length > 0) live.textContent = changed.map(([of, state]) => `${of}: ${state}`).join('. ')
}

// Says above the page that it is old, or, with null, that it is not any more.
function setLost(words) {
  if (words === (document.body.dataset.lost ?? null)) return
  if (words === null) delete document.body.dataset.lost
  else document.body.dataset.lost = words
  live.textContent = words ?? 'Ferry answers again.'
}

async function refresh() {
  if (document.hidden || !main.dataset.refresh || isBusy()) return
  try {
    const response = await fetch(location.href, { redirect: 'error', signal: AbortSignal.timeout(10_000) })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    if (!page.querySelector('main')) throw new Error('no page')
    // What was read before says more than an error, if it says that it is old.
    const isKept = response.status >= 500 && !main.classList.contains('failed')
    if (!isKept && !isBusy()) show(page)
    setLost(isKept ? 'Ferry cannot read from Postgres now. What is shown is old.' : null)
  } catch {
    setLost('Ferry does not answer. What is shown is old.')
  }
}

function refreshLater() {
  const everyMs = Number(main.dataset.refresh)
  if (everyMs > 0) setTimeout(() => refresh().then(refreshLater), everyMs)
}
refreshLater()
document.addEventListener('visibilitychange', refresh)
