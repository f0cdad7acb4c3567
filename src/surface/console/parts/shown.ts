import type { Content } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { addressOf, recordLink } from './links.ts'
import { euros, none, status, text, time } from './text.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** A member of a record, as its name and its value say: an amount, a state, an instant, another record, a text. */
export function shown(member: string, value: unknown, request: PageRequest, most?: number): Content {
  if (value === null || value === undefined) return none
  if (typeof value === 'number') return member.endsWith('Euros') ? euros(value) : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const said = String(value)
  if (member === 'status') return status(said)
  if (INSTANT.test(said)) return time(said)
  return addressOf(said) === undefined ? text(said, most) : recordLink(request, said)
}
