// Items that wait for a person: j and k move, a and d decide, ? lists the keys. One button decides several.

import { element, show } from './dialogs.js'
import { challengeOf, requestOf, showRefusal, submit } from './forms.js'
import { all, closestTo, once, part, words } from './page.js'
import { openStatement, signedText } from './passkey.js'

const ITEM = '[data-item]'
const TYPED = 'input, textarea, select, dialog, [contenteditable]'

const items = () => all(ITEM)
const current = () => document.activeElement?.closest(ITEM)

function focusItem(index) {
  const list = items()
  const item = list[Math.max(0, Math.min(index, list.length - 1))]
  item?.focus({ preventScroll: true })
  item?.scrollIntoView({ block: 'nearest' })
}

function move(step) {
  const index = items().indexOf(current())
  focusItem(index < 0 ? 0 : index + step)
}

/** Without an item in focus, the first one is focused and nothing is decided. */
function decide(selector) {
  const item = current()
  if (!item) return focusItem(0)
  item.querySelector(selector)?.click()
}

async function showKeys() {
  const rows = words.keysOf.map(([key, meaning]) =>
    element('div', {}, element('dt', {}, element('kbd', {}, key)), element('dd', {}, meaning)),
  )
  await show(words.keys, [element('dl', { class: 'shortcuts' }, ...rows)], [['yes', words.close]])
}

const actions = {
  j: () => move(1),
  k: () => move(-1),
  a: () => decide('.main'),
  d: () => decide('.against'),
  '?': () => void showKeys(),
}

document.addEventListener('keydown', event => {
  const { target, key } = event
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  if (!(target instanceof Element) || target.closest(TYPED) || part('dialog[open]')) return
  const action = actions[key]
  if (!action) return
  event.preventDefault()
  action()
})

/** After a decision the focus goes to the item that takes the place of the decided one. */
let decidedAt = -1

document.addEventListener('form-done', ({ target }) => {
  decidedAt = target instanceof Element ? items().indexOf(target.closest(ITEM)) : -1
})

document.addEventListener('part-replaced', () => {
  if (decidedAt < 0) return
  focusItem(decidedAt)
  decidedAt = -1
})

const button = part('[data-keys]')
if (button) {
  button.hidden = false
  button.addEventListener('click', () => void showKeys())
}

/** Each form takes three requests, and a minute has a hundred. */
const MOST_TOGETHER = 20

/** Opens the statement of each form. A refusal appears at its form, and does not stop the others. */
async function openStatements(forms) {
  const opened = []
  for (const form of forms) {
    const challenge = challengeOf(form, requestOf(form).body)
    const statement = await openStatement(challenge).catch(error =>
      showRefusal(form, form.querySelector('button'), error),
    )
    if (statement) opened.push({ ...statement, form })
  }
  return opened
}

/**
 * Shows several statements in one dialog, each with a box to leave it out. Each is signed by itself afterwards,
 * as its proof must not show the others. Returns the chosen ones.
 */
async function chooseStatements(statements) {
  const boxes = statements.map(() => element('input', { type: 'checkbox', checked: '' }))
  const lines = statements.map(({ sentence }, n) =>
    element('label', { class: 'check' }, boxes[n], signedText(sentence)),
  )
  const chosen = await show(`${words.youSignEach} (${statements.length})`, lines, [
    ['yes', words.signEach, 'main'],
    ['no', words.cancel],
  ])
  return chosen === 'yes' ? statements.filter((_, n) => boxes[n].checked) : []
}

/** The person reads all statements in one dialog. Then the passkey signs each, until it is not confirmed. */
async function submitAll(selector) {
  const opened = await openStatements(all(selector).slice(0, MOST_TOGETHER))
  if (opened.length === 0) return
  for (const read of await chooseStatements(opened)) {
    if (read.form.isConnected && (await submit(read.form, undefined, read)) === 'stop') return
  }
}

document.addEventListener('click', event => {
  const button = closestTo(event, 'button[data-each]')
  if (button) void once(button, () => submitAll(button.dataset.each))
})
