// Updates a part of a page in place, and keeps focus, selection, open details and input.

const CHOICE = '[type="checkbox"], [type="radio"]'
const FIELDS = 'input, textarea, select'
/** Attributes that scripts or the person set, and the service does not know. */
const OURS = new Set([
  'aria-disabled',
  'aria-invalid',
  'aria-describedby',
  'aria-pressed',
  'open',
  'data-stale',
  'data-gone',
])

const isDirty = field =>
  field.matches('select')
    ? [...field.options].some(({ selected, defaultSelected }) => selected && !defaultSelected) &&
      [...field.options].some(({ defaultSelected }) => defaultSelected || field.selectedIndex > 0)
    : field.matches(CHOICE)
      ? field.checked !== field.defaultChecked
      : field.type !== 'hidden' && (field.value !== field.defaultValue || field.validity.badInput)

const fieldsIn = node => (node.matches(FIELDS) ? [node] : [...node.querySelectorAll(FIELDS)])

export const hasTypedInput = node => node.nodeType === Node.ELEMENT_NODE && fieldsIn(node).some(isDirty)

const ROWS = 'li, tr, article, section, dl > div'
const NAMED = '[data-key], form[data-operation], a[href], [id]:not(input, textarea, select)'

function nameOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return undefined
  const { id, dataset } = node
  if (node.matches(FIELDS)) return `${node.name} ${node.matches(CHOICE) ? node.value : ''}`
  if (id || dataset.key) return `${node.tagName} ${id || dataset.key}`
  if (dataset.operation) return `${node.tagName} ${dataset.operation} ${dataset.params}`
  const named = node.matches(ROWS) ? node.querySelector(NAMED) : null
  return named ? `${node.tagName} ${nameOf(named) ?? named.getAttribute('href')}` : undefined
}

const isOurs = node => node.nodeType === Node.ELEMENT_NODE && node.dataset.own !== undefined
const areAlike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName

function setAttributes(now, next) {
  for (const { name, value } of next.attributes)
    if (!OURS.has(name) && now.getAttribute(name) !== value) now.setAttribute(name, value)
  for (const { name } of [...now.attributes])
    if (!OURS.has(name) && !next.hasAttribute(name)) now.removeAttribute(name)
}

function morphNode(now, next) {
  if (now.nodeType !== Node.ELEMENT_NODE) {
    if (now.data !== next.data) now.data = next.data
    return
  }
  if (now.dataset.paused !== undefined) return
  delete now.dataset.gone
  if (now.isEqualNode(next)) return
  setAttributes(now, next)
  if (now.matches('.refusal')) return
  if (!now.matches('textarea') || !isDirty(now)) morph(now, next)
}

/** Finds the element to update: the one of the same name, or the next unnamed one that looks alike. */
function matchOf(next, at, byName) {
  const name = nameOf(next)
  if (name !== undefined) return byName.get(name)
  let now = at
  while (now && (isOurs(now) || nameOf(now) !== undefined)) now = now.nextSibling
  return now && areAlike(now, next) ? now : undefined
}

function namesIn(parent) {
  const byName = new Map()
  for (const child of parent.childNodes) {
    const name = nameOf(child)
    if (name !== undefined && !byName.has(name)) byName.set(name, child)
  }
  return byName
}

const put = (parent, node, before) =>
  node.isConnected && parent.moveBefore ? parent.moveBefore(node, before) : parent.insertBefore(node, before)

/** Gives the children of one element to the other. Removed elements with input stay, and are marked. */
export function morph(parent, nextParent) {
  const byName = namesIn(parent)
  const left = new Set([...parent.childNodes].filter(node => !isOurs(node)))
  let at = parent.firstChild
  const pass = () => {
    while (at && isOurs(at)) at = at.nextSibling
  }
  for (const next of [...nextParent.childNodes]) {
    pass()
    const found = matchOf(next, at, byName)
    const now = left.has(found) && areAlike(found, next) ? found : undefined
    if (now) {
      left.delete(now)
      if (now === at) at = at.nextSibling
      else put(parent, now, at)
      morphNode(now, next)
    } else put(parent, document.importNode(next, true), at)
  }
  for (const node of left)
    if (hasTypedInput(node)) node.dataset.gone = ''
    else node.remove()
}
