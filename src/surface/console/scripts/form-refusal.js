import { element } from './dialogs.js'
import { words } from './page.js'

export function clearFormRefusal(form) {
  for (const line of form.querySelectorAll('.refusal[data-own]')) line.remove()
  for (const line of form.querySelectorAll('.refusal')) line.textContent = ''
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    field.removeAttribute('aria-describedby')
    if (field.dataset.describedby) field.setAttribute('aria-describedby', field.dataset.describedby)
  }
}

/** Splits `a: must be …; b: must be …` or `a must be …. b is …` into sentences, each with its member. */
const sentencesOf = said =>
  said.split(/(?:; |(?<=\.) )(?=[a-z][\w.]*:? )/).map(sentence => ({
    sentence,
    member: /^[\w.]+/.exec(sentence)?.[0] ?? '',
  }))

/** A field in a closed group is shown by opening the group. */
function isShown(field) {
  for (let group = field.closest('details'); group && field.form.contains(group); ) {
    if (!group.open && group.querySelector('summary')?.checkVisibility()) group.open = true
    group = group.parentElement.closest('details')
  }
  return field.type !== 'hidden' && field.checkVisibility()
}

/** Finds the field of a member. For `a.0.b` it is the field of `a.0` or `a`, if the member has no field of its own. */
function fieldOf(form, member) {
  for (
    let name = member;
    name !== '';
    name = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : ''
  ) {
    const found = [...form.elements].find(field => field.name === name && isShown(field))
    if (found) return found
  }
  return undefined
}

let count = 0

function sayAt(field, sentence) {
  const id = `refusal-${++count}`
  const line = element('p', { id, class: 'refusal', 'data-own': '' }, sentence)
  const place = field.closest('label') ?? field
  place.after(line)
  const described = field.getAttribute('aria-describedby')
  if (described && !field.hasAttribute('aria-invalid')) field.dataset.describedby = described
  field.setAttribute('aria-invalid', 'true')
  field.setAttribute('aria-describedby', [described, id].filter(Boolean).join(' '))
}

/** Several refusals have a summary at the top, with a link to each field. */
function summarize(form, refused) {
  const links = refused.map(({ field, sentence }) =>
    element('li', {}, element('a', { href: `#${field.id}` }, sentence)),
  )
  const summary = element(
    'div',
    { class: 'refusal', role: 'group', tabindex: '-1', 'data-own': '', 'aria-label': words.refused },
    element('strong', {}, words.refused),
    element('ul', {}, ...links),
  )
  form.prepend(summary)
  return summary
}

function lineOf(form, button) {
  const there = form.querySelector('.refusal[role="alert"]')
  if (there) return there
  const line = element('p', { class: 'refusal', role: 'alert', 'data-own': '' })
  button.after(line)
  return line
}

/**
 * Shows each refusal at the field that it names, and the rest beside the button. Focuses the field, or the summary of
 * several, unless the person is typing.
 */
export function showFormRefusal(form, button, said, { isTyping = false } = {}) {
  clearFormRefusal(form)
  const sentences = sentencesOf(said).map(one => ({ ...one, field: fieldOf(form, one.member) }))
  for (const { field, sentence } of sentences) if (field) sayAt(field, sentence)
  const rest = sentences.filter(({ field }) => !field).map(({ sentence }) => sentence)
  if (rest.length > 0) lineOf(form, button).textContent = rest.join('; ')
  const refused = sentences.filter(({ field }) => field)
  if (isTyping || refused.length === 0) return
  const target = refused.length > 1 ? summarize(form, refused) : refused[0].field
  target.focus()
}
