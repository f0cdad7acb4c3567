// Sends a message and shows the answer line by line. Third-party text is inserted as text.

import { part, root, words } from './page.js'
import { signInAgain } from './sign-in.js'

const form = part('form[data-ask]')
const talk = part('[data-talk]')
const field = form.elements.message
const refusal = form.querySelector('.refusal')
let conversationId

/** @param {string} name @param {string} text @param {string} [kind] */
function element(name, text, kind = '') {
  const made = document.createElement(name)
  if (kind) made.className = kind
  made.textContent = text
  return made
}

function add(...shown) {
  talk.append(...shown)
  shown.at(-1)?.scrollIntoView({ block: 'nearest' })
}

/** A table of the changes. Each cell repeats its heading, which phones show beside it. */
function tableOf(changes) {
  const names = [words.member, words.before, words.afterwards]
  const table = document.createElement('table')
  const head = table.createTHead().insertRow()
  head.append(...names.map(name => Object.assign(element('th', name), { scope: 'col' })))
  const body = table.createTBody()
  for (const { member, from, to } of changes) {
    const row = body.insertRow()
    for (const [n, text] of [member, from ?? '–', to ?? '–'].entries()) {
      const cell = row.insertCell()
      cell.dataset.name = names[n]
      cell.append(element('div', text))
    }
  }
  return table
}

function proposalOf({ id, summary, changes, effect }) {
  const article = element('article', '', 'ask')
  const link = Object.assign(element('a', words.look, 'button'), {
    href: `${root}console/proposals/${encodeURIComponent(id)}`,
  })
  const way = document.createElement('p')
  way.append(link)
  article.append(element('h2', summary), ...(changes.length > 0 ? [tableOf(changes)] : []))
  if (effect) article.append(element('p', effect.sentence))
  article.append(way)
  return article
}

const shown = {
  text: ({ text }) => add(element('p', text, 'answer')),
  error: ({ message }) => add(element('p', message, 'refusal')),
  proposal: ({ proposal }) => add(proposalOf(proposal)),
  done: line => {
    conversationId = line.conversationId
  },
}

async function* linesOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line) yield JSON.parse(line)
  }
}

/** Streams the answer. If the session has expired, the person signs in here, and the message is sent again. */
async function send(message) {
  const response = await fetch(`${root}canvas/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ message, ...(conversationId ? { conversationId } : {}) }),
  })
  if (response.status !== 401) return response
  await signInAgain()
  return send(message)
}

const OVER = new Set(['conversation_full', 'conversation_not_found'])

async function ask(message) {
  refusal.textContent = ''
  add(element('p', message, 'question'))
  let response = await send(message)
  if (OVER.has(response.headers.get('x-error-code') ?? '')) {
    conversationId = undefined
    response = await send(message)
  }
  if (!response.ok) {
    const { error = words.offline } = await response.json().catch(() => ({}))
    throw new Error(error)
  }
  let isWhole = false
  for await (const line of linesOf(response)) {
    shown[line.type]?.(line)
    isWhole = line.type === 'done'
  }
  if (!isWhole) throw new TypeError('the answer is incomplete')
}

/** The field is empty at once, so that a person can write the next message meanwhile. */
async function submit(message) {
  const button = form.querySelector('button')
  if (button.disabled) return
  button.disabled = true
  const isWritten = field.value.trim() === message
  if (isWritten) field.value = ''
  await ask(message).catch(error => {
    refusal.textContent = error instanceof TypeError ? words.offline : error.message
    if (isWritten && field.value === '') field.value = message
  })
  button.disabled = false
  field.focus()
}

form.addEventListener('submit', event => {
  event.preventDefault()
  const message = field.value.trim()
  if (message) void submit(message)
})

document.addEventListener('click', ({ target }) => {
  const { example } = target instanceof HTMLElement ? target.dataset : {}
  if (example) void submit(example)
})
