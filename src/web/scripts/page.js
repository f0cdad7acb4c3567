export const { dataset } = document.documentElement
export const { root } = dataset
const news = document.getElementById('news')
const trouble = document.getElementById('trouble')

export const words = JSON.parse(dataset.words ?? '{}')
/** @type {(selector: string) => any} */
export const part = selector => document.querySelector(selector)
/** @type {(selector: string) => any[]} */
export const all = selector => [...document.querySelectorAll(selector)]

/**
 * What was pressed or sent, if it is one of these.
 * @type {(event: Event, selector: string) => any}
 */
export const closestTo = ({ target }, selector) => target instanceof Element && target.closest(selector)

/** A new element each time, so that a page that shows it for a while begins anew. */
export function tell(text) {
  trouble.textContent = ''
  const line = document.createElement('span')
  line.textContent = text
  news.replaceChildren(...(text === '' ? [] : [line]))
}

/** Errors: screen readers announce them at once. */
export function complain(text) {
  news.textContent = ''
  trouble.textContent = text
}

/**
 * A refusal of the service. `message` is for the person; `said` is the service's own message; `challengePath` is
 * where to get what a passkey must sign first.
 */
export class Refused extends Error {
  constructor(code, message, { said = message, status = 0, challengePath = undefined } = {}) {
    super(message)
    this.code = code
    this.said = said
    this.status = status
    this.challengePath = challengePath
  }
}

const sent = body => (body === undefined || body instanceof FormData ? (body ?? null) : JSON.stringify(body))

const linkedChallenge = link => /<\/(passkeys\/challenges\/\w+)>; rel="challenge"/.exec(link ?? '')?.[1]

/**
 * Calls an operation. `background`: a call of the page itself, which does not count as activity. `key`: the same request
 * sent again with the same key is done once.
 * @param {string} method
 * @param {string} path
 * @param {{ body?: object, background?: boolean, key?: string }} [options]
 */
export async function call(method, path, { body, background = false, key } = {}) {
  const content = sent(body)
  const response = await fetch(root + path, {
    method,
    headers: {
      ...(typeof content === 'string' ? { 'Content-Type': 'application/json' } : {}),
      ...(background ? { 'X-Background': 'true' } : {}),
      ...(key ? { 'Idempotency-Key': key } : {}),
    },
    body: content,
  }).catch(() => {
    throw new Refused('offline', words.offline)
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const code = response.headers.get('X-Error-Code')
  const said = answer.error ?? String(response.status)
  const { status } = response
  const challengePath = linkedChallenge(response.headers.get('Link'))
  throw new Refused(code, words.refusals?.[code] ?? `${words.other} ${said}`, { said, status, challengePath })
}

/**
 * The page in an answer, or undefined if the answer is not HTML. The text of third parties in a table or in JSON is not
 * escaped, and would become markup.
 */
export async function pageIn(response) {
  if (!/^text\/html\b/i.test(response.headers.get('Content-Type') ?? '')) return undefined
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}

function ofBrowser(error) {
  const name = error.cause?.name ?? error.name
  if (name === 'InvalidStateError') return words.enrolledAlready
  return ['NotAllowedError', 'AbortError'].includes(name)
    ? words.notAllowed
    : `${words.other} ${error.message}`
}

export const loadCeremonies = () => import('./webauthn.js')

export async function askDevice(ceremony, optionsJSON) {
  await loadCeremonies().catch(() => {
    throw new Refused('offline', words.offline)
  })
  const { [ceremony]: start, browserSupportsWebAuthn } = globalThis.SimpleWebAuthnBrowser
  if (!browserSupportsWebAuthn()) throw new Refused('unsupported', words.unsupported)
  tell(words.touch)
  return start({ optionsJSON }).catch(error => {
    throw new Refused('not_allowed', ofBrowser(error))
  })
}

const isUnderWay = new WeakSet()

/** Runs the action of a button or form only once at a time. Nothing is disabled, so that the focus stays. */
export async function once(element, work) {
  if (isUnderWay.has(element)) return
  isUnderWay.add(element)
  element.setAttribute('aria-disabled', 'true')
  tell(words.wait)
  try {
    await work()
  } catch (error) {
    complain(error instanceof Refused ? error.message : `${words.other} ${error.message}`)
  }
  element.removeAttribute('aria-disabled')
  isUnderWay.delete(element)
}

/** Listens on the document, since the button may be replaced. */
export function onPress(action, work) {
  document.addEventListener('click', event => {
    const button = closestTo(event, `button[data-action="${action}"]`)
    if (button) void once(button, work)
  })
}

export function onSubmit(action, work) {
  document.addEventListener('submit', event => {
    const form = closestTo(event, `form[data-action="${action}"]`)
    if (!form) return
    event.preventDefault()
    void once(form.querySelector('button'), () => work(new FormData(form)))
  })
}

export function showStep(name, { first = false } = {}) {
  for (const section of all('[data-step]')) section.hidden = section.dataset.step !== name
  if (!first) part(`[data-step="${name}"] h1`).focus()
}

/** The token is behind the `#`. This removes it from the address, and so from the history. */
export function takeToken() {
  const token = location.hash.slice(1)
  if (token) history.replaceState(null, '', location.pathname + location.search)
  addEventListener('hashchange', () => location.reload())
  return token
}

const wish = () => new URLSearchParams(location.search).get('to')

/** Goes to the page that the person wanted, if it has this origin. */
export function goToRequestedPage(page = 'console') {
  const wanted = URL.parse(wish() ?? '', location.href)
  const isOurs =
    wish() !== null && wanted?.origin === location.origin && wanted.protocol === location.protocol
  location.assign(isOurs ? wanted.href : root + page)
}

export function goBy(page, to = wish()) {
  location.assign(`${root}${page}${to === null ? '' : `?to=${encodeURIComponent(to)}`}`)
}

const ID_AT_END = /^(.+ )(\([a-z]+_[0-9a-z]+\)\.)$/

/**
 * Writes a sentence to sign. An id at its end is small, below it.
 * @param {Element} place
 * @param {string} sentence
 */
export function writeSentence(place, sentence) {
  const [, text = sentence, id] = ID_AT_END.exec(sentence) ?? []
  const small = document.createElement('small')
  small.textContent = id ?? ''
  place.replaceChildren(text, ...(id ? [small] : []))
}

export const here = () => location.pathname + location.search

// The service writes times in its own zone; the page shows them in the reader's, near ones as *Today 21:37*, with
// the exact one on hover and focus.
const forms = {
  minute: { timeStyle: 'short' },
  second: { timeStyle: 'medium' },
  time: { timeStyle: 'medium' },
  dayOfYear: { day: 'numeric', month: 'short' },
  day: { dateStyle: 'medium' },
  exact: { dateStyle: 'medium', timeStyle: 'long' },
}
const formats = new Map()
const language = document.documentElement.lang === 'de' ? 'de-DE' : 'en-GB'

function formatOf(name) {
  const known = formats.get(name)
  if (known) return known
  const format = new Intl.DateTimeFormat(language, forms[name])
  formats.set(name, format)
  return format
}

export const timeOf = at => formatOf('time').format(at)

const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
/** In test mode, the account's clock may be ahead of this one. */
const aheadMs = dataset.now ? Date.parse(dataset.now) - Date.now() : 0
const DAY_MS = 86_400_000

const dayNumber = at => Math.round(Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / DAY_MS)

function dayText(at, isInSentence) {
  const today = new Date(Date.now() + aheadMs)
  const days = dayNumber(at) - dayNumber(today)
  if (Math.abs(days) > 1)
    return formatOf(at.getFullYear() === today.getFullYear() ? 'dayOfYear' : 'day').format(at)
  const name = relative.format(days, 'day')
  return isInSentence ? name : name.charAt(0).toUpperCase() + name.slice(1)
}

function timeText(at, format = 'minute', isInSentence = false) {
  if (format === 'time' || format === 'day') return formatOf(format).format(at)
  return `${dayText(at, isInSentence)} ${formatOf(format).format(at)}`
}

/** Leaves dates without a time as they are, since they have no zone. */
export function showTimes(root) {
  for (const time of root.querySelectorAll('time[datetime*="T"]')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    time.textContent = timeText(at, time.dataset.format, time.dataset.inSentence !== undefined)
    time.dataset.exact = `${formatOf('exact').format(at)}\n${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
    if (!time.closest('a, button, summary')) time.tabIndex = 0
  }
}

onPress('sign-out', async () => {
  await call('DELETE', 'console/session')
  location.assign(`${root}login`)
})
for (const button of all('[data-action="sign-out"]')) button.hidden = false
showTimes(document)
