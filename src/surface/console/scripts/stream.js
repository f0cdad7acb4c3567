// Follows the events of the account. One tab of a browser reads the stream and shares it, so that ten tabs
// need one connection.

import { root } from './page.js'

/** A stream without any data for this long counts as broken. The service sends a sign of life every fifteen seconds. */
const SILENCE_MS = 45_000
const RETRY_MS = 5_000
/** After this long, the stream cannot resume from the last event, and the parts are fetched again. */
const RESUMABLE_MS = 60_000
/** Events are kept for a new tab, since they may happen while its page loads. */
const KEPT = 50

const name = `events of ${new URL(root, location.href).href}`
const channel = new BroadcastChannel(name)
const tab = crypto.randomUUID()
const listeners = new Set()
const kept = []
const wait = ms => new Promise(resolve => setTimeout(resolve, ms))

let standing = 'opening'
let isReader = false
let lastHeard = performance.now()
/** @type {(value?: unknown) => void} */
let goOn = () => undefined

/** Calls the listener with `{ event }`, `{ standing }` and `{ missed }`, which means that events were lost. */
export function follow(listener) {
  listeners.add(listener)
  listener({ standing })
}

function hear(message) {
  if (message.to && message.to !== tab) return
  lastHeard = performance.now()
  if (message.standing) standing = message.standing
  for (const listener of listeners) listener(message)
}

function tellAll(message) {
  channel.postMessage(message)
  hear(message)
}

export function resume(personId) {
  tellAll({ standing: 'opening', personId })
  goOn()
}

channel.onmessage = ({ data }) => {
  if (data.newcomer && isReader) greet(data)
  if (data.newcomer) return
  if (data.personId) goOn()
  hear(data)
}

function greet({ newcomer, since }) {
  channel.postMessage({ to: newcomer, standing })
  for (const { at, event } of kept) if (at >= since) channel.postMessage({ to: newcomer, event })
}

const place = {
  read() {
    const { id, at } = JSON.parse(localStorage.getItem(name) ?? '{}')
    return Date.now() - at < RESUMABLE_MS ? id : undefined
  },
  write(id) {
    localStorage.setItem(name, JSON.stringify({ id, at: Date.now() }))
  },
}

/** Yields the events of a stream as they arrive, and undefined for each sign of life. */
async function* eventsIn(body, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    alive()
    const messages = (rest + value).split('\n\n')
    rest = messages.pop()
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)
      if (data) yield JSON.parse(data[1])
    }
    yield undefined
  }
}

async function open(from, signal) {
  const headers = { 'X-Background': 'true', ...(from ? { 'Last-Event-ID': from } : {}) }
  const response = await fetch(`${root}events/stream`, { headers, signal })
  if (response.status === 400 && from) return open(undefined, signal)
  if (response.status === 401) return undefined
  if (!response.ok) throw new Error(`the stream was refused: ${response.status}`)
  return { body: response.body, isGapless: from !== undefined && !response.redirected }
}

async function read() {
  const stop = new AbortController()
  let silence
  const alive = () => {
    clearTimeout(silence)
    silence = setTimeout(() => stop.abort(), SILENCE_MS)
  }
  alive()
  let last = place.read()
  try {
    const stream = await open(last, stop.signal)
    if (!stream) return false
    tellAll({ standing: 'live', missed: !stream.isGapless })
    for await (const event of eventsIn(stream.body, alive)) {
      last = event?.id ?? last
      place.write(last)
      if (!event) channel.postMessage({ isThere: true })
      else {
        kept.push({ at: Date.now(), event })
        if (kept.length > KEPT) kept.shift()
        tellAll({ event })
      }
    }
    return true
  } finally {
    clearTimeout(silence)
  }
}

/** One tab reads for all. It opens an ended stream again at once, which shows whether the session has ended. */
async function lead() {
  isReader = true
  for (;;) {
    const began = performance.now()
    const isSignedIn = await read().catch(() => undefined)
    if (isSignedIn === false) {
      tellAll({ standing: 'ended' })
      await new Promise(resolve => {
        goOn = resolve
      })
    } else if (isSignedIn === undefined || performance.now() - began < 1_000) {
      tellAll({ standing: 'lost' })
      await wait(RETRY_MS)
    }
  }
}

/** A silent reader may be a tab that its browser has frozen. */
function doubt() {
  if (!isReader && standing !== 'lost' && performance.now() - lastHeard > SILENCE_MS)
    hear({ standing: 'lost' })
}

if (navigator.locks) {
  channel.postMessage({ newcomer: tab, since: performance.timeOrigin - 1_000 })
  void navigator.locks.request(name, lead)
  setInterval(doubt, RETRY_MS)
} else hear({ standing: 'lost' })
