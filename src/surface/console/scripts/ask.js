// Asks in a sentence and shows the answer line by line. What others have written stays a text.

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

/** The difference that a proposal would make, and the way to it. */
function proposalOf({ id, summary, changes, effect }) {
  const article = element('article', '', 'ask')
  const rows = changes.map(({ member, from, to }) => {
    const row = document.createElement('tr')
    row.append(element('td', member), element('td', from ?? '–'), element('td', to ?? '–'))
    return row
  })
  const head = document.createElement('tr')
  head.append(...[words.member, words.before, words.afterwards].map(text => element('th', text)))
  const table = document.createElement('table')
  table.append(head, ...rows)
  const link = Object.assign(element('a', words.look, 'button'), {
    href: `${root}console/proposals/${encodeURIComponent(id)}`,
  })
  const way = document.createElement('p')
  way.append(link)
  article.append(element('h2', summary), ...(rows.length > 0 ? [table] : []))
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

/** The answer as it comes; whoever is signed in no more does so in place, and goes on. */
async function send(body) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(`${root}canvas/messages`, { method: 'POST', headers, body })
  if (response.ok) return response
  if (response.status === 401) {
    await signInAgain()
    return send(body)
  }
  const { error = words.offline } = await response.json().catch(() => ({}))
  throw new Error(error)
}

async function ask(message) {
  refusal.textContent = ''
  add(element('p', message, 'question'))
  const response = await send(JSON.stringify({ message, ...(conversationId ? { conversationId } : {}) }))
  for await (const line of linesOf(response)) shown[line.type]?.(line)
}

async function submit(message) {
  const button = form.querySelector('button')
  if (button.disabled) return
  button.disabled = true
  await ask(message).then(
    () => {
      field.value = ''
    },
    error => {
      refusal.textContent = error instanceof TypeError ? words.offline : error.message
    },
  )
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
