// What the pages of people share: calls of the service, what is told to the person, and going on from here.

export const { dataset } = document.documentElement
export const { root } = dataset
const news = document.getElementById('news')
const trouble = document.getElementById('trouble')

/** What the scripts say: the page brings it along, or a script adds it. */
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

/** Good news, and what is going on: a screen reader says it when it has time. */
export function tell(text) {
  trouble.textContent = ''
  news.textContent = text
}

/** What went wrong: a screen reader says it at once. */
export function complain(text) {
  news.textContent = ''
  trouble.textContent = text
}

/** A refusal of the service, in words for the person; `said` is what the service itself has said. */
export class Refused extends Error {
  constructor(code, message, { said = message, status = 0 } = {}) {
    super(message)
    this.code = code
    this.said = said
    this.status = status
  }
}

/** Files go as a form, everything else as JSON. */
const sent = body => (body === undefined || body instanceof FormData ? (body ?? null) : JSON.stringify(body))

/**
 * Calls an operation. `background`: the call is of the page, and no sign that somebody is there. `key`: the same request
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
  throw new Refused(code, words.refusals?.[code] ?? `${words.other} ${said}`, { said, status })
}

/** The reason of a browser that gives no passkey, in words. */
function ofBrowser(error) {
  const name = error.cause?.name ?? error.name
  if (name === 'InvalidStateError') return words.enrolledAlready
  return ['NotAllowedError', 'AbortError'].includes(name)
    ? words.notAllowed
    : `${words.other} ${error.message}`
}

/** Loads what asks for passkeys, so that it is there when a button is pressed. */
export const loadCeremonies = () => import('./webauthn.js')

/** Asks the browser for a passkey: `startAuthentication`, `startRegistration`. */
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

/** Does the work of a button or form once at a time. The focus stays where it is, so nothing is disabled. */
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

/** Does what the button of this name is for, wherever it stands by then. */
export function onPress(action, work) {
  document.addEventListener('click', event => {
    const button = closestTo(event, `button[data-action="${action}"]`)
    if (button) void once(button, work)
  })
}

/** Does what the form of this name is for. */
export function onSubmit(action, work) {
  document.addEventListener('submit', event => {
    const form = closestTo(event, `form[data-action="${action}"]`)
    if (!form) return
    event.preventDefault()
    void once(form.querySelector('button'), () => work(new FormData(form)))
  })
}

/** Shows one step of the page and puts the focus on its heading, unless it is the first one. */
export function showStep(name, { first = false } = {}) {
  for (const section of all('[data-step]')) section.hidden = section.dataset.step !== name
  if (!first) part(`[data-step="${name}"] h1`).focus()
}

/** The token of a link, which stands behind the `#`. It is taken out of the address, and so out of the history. */
export function takeToken() {
  const token = location.hash.slice(1)
  if (token) history.replaceState(null, '', location.pathname + location.search)
  addEventListener('hashchange', () => location.reload())
  return token
}

const wish = () => new URLSearchParams(location.search).get('to')

/** Goes where the person wanted to, if that is a page of ours. */
export function goOn(page = 'approve') {
  const wanted = URL.parse(wish() ?? '', location.href)
  const isOurs =
    wish() !== null && wanted?.origin === location.origin && wanted.protocol === location.protocol
  location.assign(isOurs ? wanted.href : root + page)
}

/** Goes to a page that leads on to where the person wanted to. */
export function goBy(page, to = wish()) {
  location.assign(`${root}${page}${to === null ? '' : `?to=${encodeURIComponent(to)}`}`)
}

export const here = () => location.pathname + location.search

// Instants in the reader's zone. The service writes them in another one; UTC shows when the pointer or the focus is on it.
const forms = {
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  second: { dateStyle: 'medium', timeStyle: 'medium' },
  day: { dateStyle: 'medium' },
  time: { timeStyle: 'medium' },
}
const formats = new Map()

function formatOf(name) {
  const known = formats.get(name)
  if (known) return known
  const format = new Intl.DateTimeFormat(
    document.documentElement.lang === 'de' ? 'de-DE' : 'en-GB',
    forms[name] ?? forms.minute,
  )
  formats.set(name, format)
  return format
}

/** The time of day of an instant, to the second. */
export const timeOf = at => formatOf('time').format(at)

/** Days without a time stay as they are: they have no zone. */
export function showTimes(root) {
  for (const time of root.querySelectorAll('time[datetime*="T"]')) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    time.textContent = formatOf(time.dataset.format ?? 'minute').format(at)
    time.dataset.utc = `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
    if (!time.closest('a, button, summary')) time.tabIndex = 0
  }
}

onPress('sign-out', async () => {
  await call('DELETE', 'console/session')
  location.assign(`${root}login`)
})
for (const button of all('[data-action="sign-out"]')) button.hidden = false
showTimes(document)
