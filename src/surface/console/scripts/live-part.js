// Live parts of a page. Each names its events, and is fetched again after one of them.

import { hasTypedInput, morph } from './morph.js'
import { closestTo, dataset, goBy, here, pageIn, part, Refused, showTimes, timeOf, words } from './page.js'
import { signInAgain, signIns } from './sign-in.js'
import { follow } from './stream.js'

const SOON_MS = 1_000
const ASK_MS = 10_000
/** Without an answer, a part is marked as outdated after the first time, and given up after the second. */
const SLOW_MS = 3_000
const GIVE_UP_MS = 10_000
const PATIENT_MS = 60_000
/** A part does not change while the person presses a button. */
const PRESSED_MS = 200

const parts = new Set()
const due = new Set()
let timer
let isAsking = false
let notBefore = 0
/** Set if a caller waits for a part that is being fetched. A failure is then retried at once. */
let isUrgent = false
let standing = 'opening'

customElements.define(
  'live-part',
  class extends HTMLElement {
    connectedCallback() {
      parts.add(this)
    }
    disconnectedCallback() {
      parts.delete(this)
    }
  },
)

const isNamed = (pattern, name) =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name

function concerns({ dataset: { events = '', about = '' } }, event) {
  if (!events.split(/\s+/).some(pattern => pattern && isNamed(pattern, event.event))) return false
  const data = JSON.stringify(event)
  return !about || about.split(/\s+/).some(id => data.includes(`"${id}"`))
}

function want(some) {
  for (const one of some) if (one.dataset.paused === undefined) due.add(one)
  plan()
}

export function refresh(ids) {
  const wanted = [...parts].filter(({ id }) => !ids || ids.includes(id))
  if (wanted.length === 0) return location.reload()
  notBefore = 0
  isUrgent = isAsking
  want(wanted)
}

function plan(ms = notBefore - performance.now()) {
  if (isAsking || due.size === 0 || document.visibilityState === 'hidden') return
  clearTimeout(timer)
  timer = setTimeout(ask, Math.max(0, ms))
}

/** The rate limit is a hundred requests a minute for each address. If few are left, the next fetch waits longer. */
function gapAfter(response) {
  const left = Number(response.headers.get('X-RateLimit-Remaining') ?? 100)
  return left > 50 ? SOON_MS : left > 20 ? 3 * SOON_MS : ASK_MS
}

/** A panel shows the page of another address. */
const addressOf = one => one.closest('[data-address]')?.dataset.address ?? location.href

/** The page in an answer. Links of another page are relative to its address. */
export async function readPage(response, address) {
  const page = await pageIn(response)
  if (page && address !== location.href)
    for (const name of ['href', 'src'])
      for (const one of page.querySelectorAll(`[${name}]`))
        one.setAttribute(name, new URL(one.getAttribute(name), address).href)
  return page
}

async function fetchParts(asked, patienceMs = GIVE_UP_MS) {
  const address = addressOf(asked[0])
  const url = new URL(address)
  url.hash = ''
  for (const {
    dataset: { query },
  } of asked)
    for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value)
  url.searchParams.set('part', asked.map(({ id }) => id).join(','))
  const headers = { 'X-Background': 'true' }
  const before = signIns
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(patienceMs) })
  notBefore = performance.now() + gapAfter(response)
  if (response.status === 401 && signIns === before) void endSession()
  else if (response.status === 401) isUrgent = true
  if (!response.ok) throw await refusalIn(response)
  const page = await readPage(response, address)
  if (!page) throw new Refused('not_loaded', words.offline)
  return page
}

async function refusalIn(response) {
  const { error } = await response.json().catch(() => ({}))
  return new Refused(response.headers.get('X-Error-Code'), error ?? String(response.status))
}

async function fetchTogether(some) {
  const page = await fetchParts(some)
  for (const one of some) if (one.dataset.paused === undefined) replace(one, page)
}

async function ask() {
  const asked = [...due].filter(({ isConnected }) => isConnected)
  due.clear()
  if (asked.length === 0) return
  if (asked.some(one => one.matches(':active'))) {
    for (const one of asked) due.add(one)
    return plan(PRESSED_MS)
  }
  isAsking = true
  const slow = setTimeout(() => markOld(asked), SLOW_MS)
  try {
    await Promise.all([...Map.groupBy(asked, addressOf).values()].map(fetchTogether))
  } catch {
    if (!isUrgent) markOld(asked)
    for (const one of asked) due.add(one)
    notBefore = isUrgent ? 0 : performance.now() + ASK_MS
  }
  clearTimeout(slow)
  isAsking = isUrgent = false
  plan()
}

export async function load(id, query) {
  const one = document.getElementById(id)
  one.dataset.query = query
  one.setAttribute('aria-busy', 'true')
  try {
    replace(one, await fetchParts([one], PATIENT_MS))
  } catch (error) {
    throw new Refused('not_loaded', error.said ?? words.offline)
  } finally {
    one.removeAttribute('aria-busy')
  }
}

export async function reloadMainContent() {
  const response = await fetch(location.href).catch(() => undefined)
  const page = response?.ok ? await pageIn(response) : undefined
  const next = page?.querySelector('main')
  if (!next || page.documentElement.dataset.person !== dataset.person) return false
  showTimes(next)
  morph(part('main'), next)
  document.title = page.title
  sayReplaced(part('main'))
  return true
}

const sayReplaced = one => one.dispatchEvent(new CustomEvent('part-replaced', { bubbles: true }))

function replace(one, page) {
  const next = page.getElementById(one.id)
  if (!next) return
  const { person } = page.documentElement.dataset
  // Another person may have signed in in another tab.
  if (person && dataset.person && person !== dataset.person) return location.reload()
  showTimes(next)
  const focused = one.contains(document.activeElement) ? document.activeElement : undefined
  morph(one, next)
  markNew(one)
  for (const gone of one.querySelectorAll('[data-gone]')) sayGone(gone)
  if (focused && !focused.isConnected) focusIn(one)
  sayReplaced(one)
}

/** If the focused element is gone, the focus stays in its part. */
function focusIn(one) {
  const place = one.querySelector('h1, h2, h3') ?? one
  place.tabIndex = -1
  place.focus({ preventScroll: true })
}

function note(text) {
  const line = document.createElement('p')
  line.className = 'old'
  line.dataset.own = ''
  line.textContent = text
  return line
}

const noteOf = element => element.querySelector(':scope > .old[data-own]')

function sayGone(element) {
  if (!noteOf(element)) element.append(note(words.gone))
}

function markOld(some) {
  for (const one of some) {
    if (one.dataset.stale !== undefined) continue
    one.dataset.stale = ''
    one.prepend(note(words.old.replace('{at}', timeOf(new Date()))))
  }
}

function markNew(one) {
  delete one.dataset.stale
  noteOf(one)?.remove()
}

/** Once the session has ended, signs in on this page if input would be lost, and otherwise goes to the sign-in page. */
async function endSession() {
  if (!hasTypedInput(document.documentElement) && !part('dialog[open]')) return goBy('login', here())
  await signInAgain()
  refresh()
}

function sayStanding() {
  let line = part('#stream')
  if (!line) {
    line = Object.assign(document.createElement('p'), { id: 'stream', role: 'status' })
    part('main').prepend(line)
  }
  const text = standing === 'lost' ? words.streamLost : ''
  if (line.textContent !== text) line.textContent = text
}

follow(message => {
  if (message.standing) {
    standing = message.standing
    sayStanding()
    if (standing === 'ended') void endSession()
  }
  if (message.missed) want(parts)
  if (message.event) want([...parts].filter(one => concerns(one, message.event)))
})

setInterval(() => standing === 'lost' && want(parts), ASK_MS)
document.addEventListener('visibilitychange', () => plan())
addEventListener('pageshow', event => event.persisted && refresh())

document.addEventListener('click', event => {
  const button = closestTo(event, 'button[data-pause]')
  if (!button) return
  const paused = part(`#${button.dataset.pause}`)
  const isPaused = paused.toggleAttribute('data-paused')
  button.setAttribute('aria-pressed', String(isPaused))
  if (!isPaused) want([paused])
})
