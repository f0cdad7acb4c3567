// Builds the body of a request from the fields of a form by their names: dots address nested members, numbers
// address items of lists.

const texts = {
  number: Number,
  list: text =>
    text
      .split(/[\n,]/)
      .map(item => item.trim())
      .filter(item => item !== ''),
  json: JSON.parse,
  instant: text => {
    const at = new Date(text)
    // An invalid time is sent as typed, and the service refuses it.
    return Number.isNaN(at.getTime()) ? text : at.toISOString()
  },
  boolean: text => text === 'true',
  text: String,
}

const kinds = { number: 'number', range: 'number', 'datetime-local': 'instant' }
const kindOf = ({ dataset, type }) => dataset.type ?? kinds[type] ?? 'text'
const empties = { null: null, text: '', list: [] }

function saidBy(field) {
  const { type, dataset, value } = field
  if (type === 'radio' || (type === 'checkbox' && dataset.type === 'list'))
    return field.checked ? value : undefined
  if (type === 'checkbox') return field.checked
  if (type === 'file') return field.files[0]
  if (type === 'select-multiple') return [...field.selectedOptions].map(option => option.value)
  if (value.trim() === '') return empties[dataset.empty]
  return texts[kindOf(field)](value)
}

function put(body, name, value) {
  const way = name.split('.')
  const last = way.pop()
  let at = body
  for (const [place, step] of way.entries()) at = at[step] ??= /^\d+$/.test(way[place + 1] ?? last) ? [] : {}
  at[last] = value
}

export const memberOf = (body, name) => name.split('.').reduce((at, step) => at?.[step], body)

function putField(body, field) {
  const { name, type, dataset } = field
  const value = saidBy(field)
  // An object that may be null is, as long as its fields are empty.
  if (value == null && dataset.whole && !body[dataset.whole]) return put(body, dataset.whole, null)
  if (type !== 'checkbox' || dataset.type !== 'list') {
    if (value !== undefined) put(body, name, value)
    return
  }
  const sofar = memberOf(body, name)
  // A group was chosen in place of single ones.
  if (typeof sofar === 'string') return
  if (value !== undefined) put(body, name, [...(sofar ?? []), value])
  else if (!sofar && dataset.empty) put(body, name, empties[dataset.empty])
}

export function contentOf(form, submitter) {
  /** @type {Record<string, any>} */
  const body = {}
  /** @type {Record<string, string>} */
  const query = {}
  for (const field of form.elements)
    if (field.matches(':enabled[name]:not(button)'))
      putField(field.dataset.in === 'query' ? query : body, field)
  if (submitter?.name) put(body, submitter.name, texts[submitter.dataset.type ?? 'text'](submitter.value))
  return { body, query }
}

/** Sends a body with a file as a form: text unchanged, everything else as JSON. */
export function asSent(body) {
  if (!Object.values(body).some(value => value instanceof File)) return body
  const data = new FormData()
  for (const [name, value] of Object.entries(body))
    data.append(name, typeof value === 'string' || value instanceof File ? value : JSON.stringify(value))
  return data
}

/** Fills a template with members of the body. `"$name"` is the member `name`; missing members are left out. */
export function filled(template, body) {
  if (typeof template === 'string') return template.startsWith('$') ? body[template.slice(1)] : template
  if (Array.isArray(template)) return template.map(item => filled(item, body))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, body)]))
}
