import { createHash } from 'node:crypto'

/** A personal value in a statement: erasing value and salt breaks no signature. */
export interface Commitment {
  readonly sha256: string
}

/** A personal value with its salt, by its place in the subject (`payees.0.name`). It is stored beside the statement. */
export type Openings = Readonly<Record<string, { readonly value: string; readonly salt: string }>>

/** Salts are all of one length, so salt and value cannot be shifted against each other. */
export const commitmentTo = (value: string, salt: string): Commitment => ({
  sha256: createHash('sha256').update(salt).update(value).digest('base64url'),
})

const isCommitment = (value: object): value is Commitment =>
  Object.keys(value).length === 1 && typeof (value as Partial<Commitment>).sha256 === 'string'

/** A copy with each personal text changed; `*` in their places stands for any index. */
export function withPersonal(
  subject: unknown,
  places: readonly string[],
  change: (value: string, place: string) => unknown,
): unknown {
  const walk = (value: unknown, place: string, pattern: string): unknown => {
    if (typeof value === 'string') return places.includes(pattern) ? change(value, place) : value
    if (Array.isArray(value))
      return value.map((item, n) => walk(item, under(place, String(n)), under(pattern, '*')))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        walk(member, under(place, name), under(pattern, name)),
      ]),
    )
  }
  return walk(subject, '', '')
}

const under = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`)

/** A copy with each commitment replaced by its value, or by `[forgotten]`. */
export function opened(subject: unknown, openings: Openings, place = ''): unknown {
  if (typeof subject !== 'object' || subject === null) return subject
  if (Array.isArray(subject)) return subject.map((item, n) => opened(item, openings, under(place, String(n))))
  if (isCommitment(subject)) return openings[place]?.value ?? '[forgotten]'
  return Object.fromEntries(
    Object.entries(subject).map(([name, member]) => [name, opened(member, openings, under(place, name))]),
  )
}
