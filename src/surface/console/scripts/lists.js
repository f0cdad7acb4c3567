// The record of a row opens in a panel beside its list, where j and k go to the next and the previous row; the filters close when something else is pressed.

import { element } from './dialogs.js'
import { readPage } from './live-part.js'
import { hasTypedInput, morph } from './morph.js'
import { all, closestTo, dataset, part, root, showTimes, words } from './page.js'

const MARK = '#open='
/** The address of a record, and not of a list as CSV. */
const PATH = /^console\/(?!csv\/)[\w-]+\/[\w%.:-]+$/

const TYPED = 'input, textarea, select, [contenteditable]'

let panel
let isPushed = false
/** The record that was asked for last. The answer for an earlier one, which may come later, is not shown. */
let wanted

/** Undefined if only the page itself can show the record: it has scripts of its own, or the session has ended. */
async function readRecord(address) {
  const response = await fetch(address).catch(() => undefined)
  if (!response?.ok || response.redirected) return undefined
  const page = await readPage(response, address)
  const content = page?.querySelector('main')
  if (!content || content.querySelector('script') || page.documentElement.dataset.person !== dataset.person)
    return undefined
  for (const one of content.querySelectorAll('noscript, :scope > .tabs, .health, #stream, #news, #trouble'))
    one.remove()
  showTimes(content)
  return { title: page.title, content }
}

/** The messages of the page are behind the panel while it is open. */
const messages = () => [part('#news'), part('#trouble')]

function makePanel() {
  const made = element(
    'dialog',
    { class: 'panel' },
    element(
      'div',
      { class: 'panel-head' },
      element('a', { class: 'button small' }, words.openPage),
      element('button', { type: 'button', class: 'small', 'data-close': '' }, words.close),
    ),
    element('div', { class: 'panel-content' }),
  )
  made.addEventListener('click', event => {
    if (event.target === made || closestTo(event, '.panel-head [data-close]')) made.close()
  })
  made.addEventListener('close', () => {
    part('main').prepend(...messages())
    made.remove()
    panel = wanted = undefined
    if (!location.hash.startsWith(MARK)) return
    if (isPushed) history.back()
    else history.replaceState(null, '', location.pathname + location.search)
  })
  made.addEventListener('form-done', () => void renewPanel(made))
  return made
}

async function renewPanel(shown) {
  const { address } = shown.dataset
  const record = await readRecord(address)
  // Another row may have been opened in the meantime.
  if (record && shown.isConnected && wanted === address)
    morph(shown.querySelector('.panel-content'), record.content)
}

async function open(address, trigger) {
  wanted = address
  trigger?.setAttribute('aria-busy', 'true')
  const record = await readRecord(address)
  trigger?.removeAttribute('aria-busy')
  if (wanted !== address) return
  if (!record) return location.assign(address)
  panel ??= makePanel()
  panel.dataset.address = address
  panel.setAttribute('aria-label', record.title)
  panel.querySelector('.panel-head a').setAttribute('href', address)
  panel.querySelector('.panel-content').replaceChildren(...record.content.childNodes)
  if (panel.open) return
  panel.querySelector('.panel-head').after(...messages())
  document.body.append(panel)
  panel.showModal()
}

/** Nothing happens at the ends of the list. */
async function openBeside(step) {
  const rows = all('main a[data-panel]')
  const at = rows.findIndex(({ href }) => href === wanted)
  const next = at < 0 ? undefined : rows[at + step]
  if (!next) return
  next.scrollIntoView({ block: 'nearest' })
  history.replaceState(null, '', markOf(next))
  await open(next.href)
  const heading = panel?.querySelector('h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus()
}

const STEPS = { j: 1, k: -1 }

document.addEventListener('keydown', event => {
  const { target, key } = event
  const step = STEPS[key]
  if (!step || !panel?.open || event.ctrlKey || event.metaKey || event.altKey) return
  if (target instanceof Element && target.closest(TYPED)) return
  // A dialog above the panel has its own keys, and a form that is filled in stays.
  if (all('dialog[open]').some(dialog => dialog !== panel) || hasTypedInput(panel)) return
  event.preventDefault()
  void openBeside(step)
})

const rootAddress = () => new URL(root, location.href).href

const markOf = link => MARK + link.href.slice(rootAddress().length)

async function openMarked() {
  const path = location.hash.slice(MARK.length)
  if (PATH.test(path)) await open(rootAddress() + path)
}

document.addEventListener('click', event => {
  const filter = part('.filter[open]')
  if (filter && !filter.contains(event.target)) filter.open = false
  const link = closestTo(event, 'a[data-panel]')
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  isPushed = true
  history.pushState(null, '', markOf(link))
  void open(link.href, link)
})

document.addEventListener('keydown', event => {
  const filter = event.key === 'Escape' && closestTo(event, '.filter[open]')
  if (!filter) return
  filter.open = false
  filter.querySelector('summary').focus()
})

// A person who opens the filters types at once.
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.matches('.filter[open]'))
      /** @type {HTMLElement | null} */ (target.querySelector('input:not([type="hidden"]), select'))?.focus()
  },
  true,
)

addEventListener('popstate', () => {
  if (location.hash.startsWith(MARK)) void openMarked()
  else {
    wanted = undefined
    panel?.close()
  }
})

if (location.hash.startsWith(MARK)) void openMarked()
