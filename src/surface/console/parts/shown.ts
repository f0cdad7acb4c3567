import type { Content } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { recordLink } from './links.ts'
import { euros, none, status, text, time } from './text.ts'

/** A member of a record, as its name says: an amount, a state, an instant, another record; all else is a text. */
export function shown(member: string, value: unknown, request: PageRequest, most?: number): Content {
  if (value === null || value === undefined) return none
  if (typeof value === 'number') return member.endsWith('Euros') ? euros(value) : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const said = String(value)
  if (member === 'status') return status(said)
  if (member === 'at' || member.endsWith('At')) return time(said)
  return member.endsWith('Id') ? recordLink(request, said) : text(said, most)
}
