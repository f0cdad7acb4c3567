// Reads rules back as a sentence, for the service, which renders it first, and for the browser, while one types.

const euros = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 })

const SHOWN = 3

function listText(items) {
  const shown = items.slice(0, SHOWN).join(', ')
  return items.length > SHOWN ? `${shown} and ${items.length - SHOWN} more` : shown
}

/** Empty if there is no such rule. */
function valueText(name, value) {
  if (value === null || value === undefined || value === '' || value === false) return ''
  if (Array.isArray(value)) return listText(value.map(item => String(item).replaceAll('_', ' ')))
  if (name.endsWith('Euros')) return `€\u00a0${euros.format(Number(value))}`
  return String(value)
}

const PLACE = /\{(\??)(\w+)(?: (\w+))?\}/g

/** A part is said if all its members have a value. `{?name}` only asks for one, `{name payment}` counts payments. */
function partText(part, values) {
  let isWhole = true
  const text = part.replace(PLACE, (_, isAsked, name, noun) => {
    const value = valueText(name, values[name])
    if (value === '') isWhole = false
    if (noun) return `${value} ${noun}${value === '1' ? '' : 's'}`
    return isAsked ? '' : value
  })
  return isWhole ? text : ''
}

/** The parts with a value, in one sentence. */
export function sentence({ start = '', parts, otherwise }, values) {
  const said = parts.map(part => partText(part, values)).filter(text => text !== '')
  const text = said.length === 0 ? otherwise : `${start}${said.join(', ')}`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
