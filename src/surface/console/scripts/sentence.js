// Reads rules back as a sentence, for the service, which renders it first, and for the browser, while one types.

const euros = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 })

const SHOWN = 3

function listText(items) {
  const shown = items.slice(0, SHOWN).join(', ')
  return items.length > SHOWN ? `${shown} and ${items.length - SHOWN} more` : shown
}

function timeText(minutes) {
  const inUnits = (count, one, many) => (count === 1 ? one : `${count} ${many}`)
  if (minutes % 1_440 === 0) return inUnits(minutes / 1_440, 'a day', 'days')
  if (minutes % 60 === 0) return inUnits(minutes / 60, 'an hour', 'hours')
  return inUnits(minutes, 'a minute', 'minutes')
}

function groupText(of, need) {
  if (of === 'owners') return need === 1 ? 'an owner' : `${need} owners`
  if (of === 'approvers') return need === 1 ? 'an approver' : `${need} approvers`
  return `${need} of ${of.length} named ${of.length === 1 ? 'person' : 'people'}`
}

/** A step of approval, in the words of the API. Empty while a field of it is. */
function stepText({ aboveEuros, of, need, withinMinutes, then }) {
  if (aboveEuros === undefined || !of || !need || !withinMinutes || !then) return ''
  const otherwise = then === 'deny' ? 'deny' : 'ask the next step as well'
  return `above €\u00a0${euros.format(aboveEuros)}: ${groupText(of, need)} within ${timeText(withinMinutes)}, else ${otherwise}`
}

const isObject = item => typeof item === 'object' && item !== null

/** Empty if there is no such rule. */
function valueText(name, value) {
  if (value === null || value === undefined || value === '' || value === false) return ''
  if (Array.isArray(value) && value.some(isObject))
    return value
      .map(stepText)
      .filter(text => text !== '')
      .join('; ')
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

/** The parts with a value, in one sentence. Of alternatives, the first one counts. */
export function sentence({ start = '', parts, otherwise = '' }, values) {
  const textOf = part =>
    [part]
      .flat()
      .map(one => partText(one, values))
      .find(text => text !== '')
  const said = parts.map(textOf).filter(text => text !== undefined)
  const text = said.length === 0 ? otherwise : `${start}${said.join(', ')}`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
