// The record of a row opens in a panel beside its list; the chips of filters close when something else is pressed.

import { element } from './dialogs.js'
import { parsePage } from './live-part.js'
import { morph } from './morph.js'
import { all, closestTo, dataset, part, root, words } from './page.js'
import { showTimes } from './times.js'

const MARK = '#open='
const PATH = /^console\/[\w-]+\/[\w%.:-]+$/

let panel
let isPushed = false

/** Undefined if only the page itself can show the record: it has scripts of its own, or the session has ended. */
async function readRecord(address) {
  const response = await fetch(address).catch(() => undefined)
  if (!response?.ok || response.redirected) return undefined
  const page = parsePage(await response.text(), address)
  const content = page.querySelector('main')
  if (!content || content.querySelector('script') || page.documentElement.dataset.person !== dataset.person)
    return undefined
  for (const one of content.querySelectorAll('noscript, .tabs, .health, #stream, #news, #trouble'))
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
    if (event.target === made || closestTo(event, '[data-close]')) made.close()
  })
  made.addEventListener('close', () => {
    part('main').prepend(...messages())
    made.remove()
    panel = undefined
    if (!location.hash.startsWith(MARK)) return
    if (isPushed) history.back()
    else history.replaceState(null, '', location.pathname + location.search)
  })
  made.addEventListener('form-done', () => void renew(made))
  return made
}

async function renew(shown) {
  const record = await readRecord(shown.dataset.address)
  if (record && shown.isConnected) morph(shown.querySelector('.panel-content'), record.content)
}

async function open(address, trigger) {
  trigger?.setAttribute('aria-busy', 'true')
  const record = await readRecord(address)
  trigger?.removeAttribute('aria-busy')
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

const rootAddress = () => new URL(root, location.href).href

async function openMarked() {
  const path = location.hash.slice(MARK.length)
  if (PATH.test(path)) await open(rootAddress() + path)
}

document.addEventListener('click', event => {
  for (const chip of all('.chip[open]')) if (!chip.contains(event.target)) chip.open = false
  const link = closestTo(event, 'a[data-panel]')
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  isPushed = true
  history.pushState(null, '', MARK + link.href.slice(rootAddress().length))
  void open(link.href, link)
})

document.addEventListener('keydown', event => {
  const chip = event.key === 'Escape' && closestTo(event, '.chip[open]')
  if (!chip) return
  chip.open = false
  chip.querySelector('summary').focus()
})

addEventListener('popstate', () => {
  if (location.hash.startsWith(MARK)) void openMarked()
  else panel?.close()
})

if (location.hash.startsWith(MARK)) void openMarked()
