// The palette: the search page in a dialog. The service finds and renders; this script moves the focus. It is loaded
// when a person first opens it.

import { element } from './dialogs.js'
import { closestTo, pageIn, part, root, words } from './page.js'

const PAUSE_MS = 150

let palette
/** The form of *Ask*, which keeps its conversation while the page is open. */
let asked
let timer
let asking = new AbortController()

function made() {
  const field = element('input', {
    type: 'text',
    enterkeyhint: 'go',
    name: 'q',
    maxlength: '200',
    autocomplete: 'off',
    'aria-label': words.search,
    placeholder: words.searchHint,
  })
  const found = element('div', { 'aria-live': 'polite' })
  const dialog = element(
    'dialog',
    { class: 'palette', 'aria-label': words.search },
    element('form', { role: 'search', action: `${root}console/search` }, field),
    found,
  )
  document.body.append(dialog)
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(find, PAUSE_MS)
  })
  dialog.addEventListener('keydown', move)
  dialog.addEventListener('click', event => {
    if (event.target === dialog) dialog.close()
    const ask = closestTo(event, '[data-ask-about]')
    if (ask) void askHere(event, ask)
  })
  dialog.querySelector('form').addEventListener('submit', event => {
    const [first] = links()
    // Results of an earlier question do not count: the form then leads to the search page.
    if (!first || found.dataset.question !== field.value) return
    event.preventDefault()
    first.click()
  })
  return { dialog, field, found }
}

const links = () => [...palette.found.querySelectorAll('a')]

async function find() {
  asking.abort()
  asking = new AbortController()
  const question = palette.field.value
  const address = `${root}console/search?${new URLSearchParams({ part: 'found', q: question })}`
  try {
    const { signal } = asking
    const response = await fetch(address, { headers: { 'X-Background': 'true' }, signal })
    const page = response.ok && (await pageIn(response))
    if (!page) return
    const content = page.getElementById('found')
    // The answer's addresses are those of the search page, which is directly below `console`.
    for (const link of content?.querySelectorAll('a') ?? [])
      link.href = new URL(link.getAttribute('href'), new URL(`${root}console/search`, location.href)).href
    replaceFound(content?.childNodes ?? [])
    palette.found.dataset.question = question
  } catch {
    // A newer question has replaced this one, or the service does not answer: Enter opens the search page.
  }
}

/** Results may arrive while a person is at one of the earlier results. */
function replaceFound(nodes) {
  const focused = links().find(link => link === document.activeElement)
  palette.found.replaceChildren(...nodes)
  if (focused) (links().find(({ href }) => href === focused.href) ?? palette.field).focus()
}

function move(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step && event.target.matches('a, input[name="q"]')) {
    event.preventDefault()
    const stops = [palette.field, ...links()]
    const at = stops.indexOf(document.activeElement)
    stops[(at + step + stops.length) % stops.length].focus()
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.target.matches('a'))
    palette.field.focus()
}

/** Puts the form of the page *Ask* here, and sends the question. */
async function askHere(event, link) {
  const isOnItsPage = !asked && part('main form[data-ask]')
  if (isOnItsPage) return
  event.preventDefault()
  asked ??= await loadAsk(link.href)
  if (!asked) return location.assign(link.href)
  palette.found.replaceChildren(asked.talk, asked.form)
  asked.form.elements.message.value = link.dataset.askAbout
  await import(asked.script)
  asked.form.requestSubmit()
}

/** Undefined if the answer is another page, such as the one to sign in. */
async function loadAsk(address) {
  const response = await fetch(address)
  const page = await pageIn(response)
  const script = page?.querySelector('script[src*="/ask-"]')?.getAttribute('src')
  if (!script) return undefined
  return {
    talk: page.querySelector('[data-talk]'),
    form: page.querySelector('form[data-ask]'),
    script: new URL(script, response.url).href,
  }
}

export function open() {
  palette ??= made()
  if (palette.dialog.open) return
  palette.dialog.showModal()
  palette.field.select()
  void find()
}
