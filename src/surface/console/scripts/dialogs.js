// Questions, and secrets that are shown once: each in a dialog, which gives the focus back when it closes.

import { words } from './page.js'

/** An element of this kind with these attributes and this content; texts are texts, whatever stands in them. */
export function element(kind, attributes = {}, ...content) {
  const made = document.createElement(kind)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...content)
  return made
}

let count = 0

/** Shows a dialog until one of its buttons is pressed; gives the name of that button, `no` for Escape. */
export function show(title, content, buttons) {
  const id = `dialog-${++count}`
  const dialog = element(
    'dialog',
    { 'aria-labelledby': id },
    element('h2', { id }, title),
    ...content,
    element(
      'div',
      { class: 'buttons' },
      ...buttons.map(([name, label, look = '']) =>
        element('button', { type: 'button', value: name, class: look }, label),
      ),
    ),
  )
  document.body.append(dialog)
  dialog.addEventListener(
    'click',
    ({ target }) => target.value && target.matches('.buttons > button') && dialog.close(target.value),
  )
  dialog.showModal()
  return new Promise(resolve =>
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue || 'no')
    }),
  )
}

/** Asks before something is done; the focus is on the answer that does nothing. */
export const confirm = (question, yes, isAgainst) =>
  show(
    question,
    [],
    [
      ['no', words.cancel],
      ['yes', yes, isAgainst ? 'against' : 'main'],
    ],
  )

/** Shows secrets for the only time: they stand nowhere else, and leave the page with the dialog. */
export function showSecrets(secrets) {
  const rows = Object.entries(secrets).map(([name, secret]) =>
    element(
      'div',
      {},
      element('dt', {}, name),
      element(
        'dd',
        {},
        element('code', {}, secret),
        ' ',
        element('button', { type: 'button', 'data-copy': secret }, words.copy),
      ),
    ),
  )
  return show(
    words.secretTitle,
    [element('p', {}, words.secretHint), element('dl', {}, ...rows)],
    [['yes', words.secretKept, 'main']],
  )
}
