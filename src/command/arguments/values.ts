import { suggestion } from '../../values/nearest.ts'
import type { Shape } from '../table.ts'
import { NamedFile } from './files.ts'

/** What a text means as a value of this shape, or why it cannot be one. */
export type Read = { readonly value: unknown } | { readonly problem: string }

const NUMBER = /^-?\d+(\.\d+)?$/

export function readValue(text: string, shape: Shape): Read {
  const { types, choices } = shape
  const may = (type: string): boolean => types.includes(type)
  if (shape.isFile) return { value: new NamedFile(text) }
  if (types.length === 0) return anything(text)
  if (text === 'null' && may('null')) return { value: null }
  if (choices) return choiceOf(text, choices)
  if ((text === 'true' || text === 'false') && may('boolean')) return { value: text === 'true' }
  if ((may('number') || may('integer')) && NUMBER.test(text)) return numberOf(text)
  if ((may('object') && /^\s*\{/.test(text)) || (may('array') && /^\s*\[/.test(text)))
    return jsonOf(text, may('string'))
  if (may('string')) return { value: text }
  return { problem: `wants ${shape.words}, and this is none: ${text}${hintOf(text, types)}` }
}

/** People who write amounts with a comma are told the form. */
const hintOf = (text: string, types: readonly string[]): string =>
  types.includes('number') && NUMBER.test(text.replace(',', '.')) ? `. Write ${text.replace(',', '.')}` : ''

function anything(text: string): Read {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { value: text }
  }
}

function choiceOf(text: string, choices: readonly unknown[]): Read {
  const chosen = choices.find(choice => String(choice) === text)
  if (chosen !== undefined) return { value: chosen }
  const names = choices.filter(choice => choice !== null).map(String)
  const list = names.length > 12 ? 'what the help lists' : names.join(', ')
  return { problem: `is one of ${list}, not ${text}.${suggestion(text, names)}` }
}

/** A number that JSON cannot carry unchanged is refused: it may be an amount. */
function numberOf(text: string): Read {
  const value = Number(text)
  return isExact(text, value) ? { value } : { problem: `has more digits than can be sent unchanged: ${text}` }
}

const isExact = (text: string, value: number): boolean => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)0*(\d+?)(?:\.(\d*?)0*)?$/.exec(text) ?? []
  const written = `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
  return String(value) === written || value === 0 || (Number.isFinite(value) && digitsOf(text) <= 15)
}

const digitsOf = (text: string): number => text.replace(/[-.]/g, '').replace(/^0+/, '').length

function jsonOf(text: string, mayBeText: boolean): Read {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return mayBeText ? { value: text } : { problem: `is no valid JSON: ${(error as Error).message}` }
  }
}

/** Whether commas part the items of a list: not where an item is a text of somebody's own. */
const hasPlainItems = ({ items }: Shape): boolean =>
  items?.choices !== undefined ||
  / id$/.test(items?.words ?? '') ||
  /^(integer|number)$/.test(items?.words ?? '')

/** The items that one option gives to a list: itself, those between its commas, or those of a JSON array. */
export function readItems(text: string, shape: Shape): Read {
  if (/^\s*\[/.test(text)) return jsonOf(text, false)
  const items = shape.items ?? { types: [], words: 'anything' }
  const texts = hasPlainItems(shape) ? text.split(',').filter(part => part !== '') : [text]
  const read = texts.map(part => readValue(part, items))
  return read.find(one => 'problem' in one) ?? { value: read.map(one => ('value' in one ? one.value : null)) }
}
