// Dialogs: the forms of a page, questions, and secrets that are shown once. A dialog returns the focus when it closes.

import { closestTo, part, words } from './page.js'

/** Inserts content as text, never as markup. */
export function element(kind, attributes = {}, ...content) {
  const made = document.createElement(kind)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...content)
  return made
}

let count = 0

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

/** Asks for confirmation. The focus is on the answer that changes nothing. */
export const confirm = (question, yes, isAgainst) =>
  show(
    question,
    [],
    [
      ['no', words.cancel],
      ['yes', yes, isAgainst ? 'against' : 'main'],
    ],
  )

/** Shows secrets once. They exist only in the dialog. */
export function showSecrets(secrets) {
  const rows = Object.entries(secrets).map(([name, secret]) =>
    element(
      'div',
      {},
      element('dt', {}, words.secretNames[name] ?? name),
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
    [
      element('p', {}, 'joinUrl' in secrets || 'url' in secrets ? words.linkHint : words.secretHint),
      element('dl', {}, ...rows),
    ],
    [['yes', words.secretKept, 'main']],
  )
}

// Browsers of before 2026 know no commands of buttons.
if (!('command' in HTMLButtonElement.prototype))
  document.addEventListener('click', event => {
    const button = closestTo(event, '[commandfor]')
    if (!button) return
    const dialog = part(`#${button.getAttribute('commandfor')}`)
    if (button.getAttribute('command') === 'close') dialog.close()
    else dialog.showModal()
  })
