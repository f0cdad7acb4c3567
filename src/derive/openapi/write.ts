import { atOnce, type Sliced } from '../../kernel/contract/time-slices.ts'
import { type Published, published } from './published.ts'
import type { Document } from './types.ts'
import { whole } from './whole.ts'

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How many levels of each part stand on lines of their own: what lies deeper is one line. */
const LEVELS: Readonly<Record<string, number>> = { paths: 4, webhooks: 2, components: 4 }

/** The document as it is committed: the members of operations, answers and schemas on a line each, so that a change shows. */
export const writeDocument = (document: Document): string => atOnce(writeSliced(document))

/** Writes the document in slices, for a process that serves requests meanwhile. */
export function* writeSliced(document: Document): Sliced<string> {
  return `${yield* lines({ ...(yield* published(document)) }, 1, LEVELS)}\n`
}

/** The document that was written. */
export const readDocument = (text: string): Document => whole(JSON.parse(text) as Published)

/** Another derived document in the same form. */
export const linesOf = (document: Json, levels: Readonly<Record<string, number>>): string =>
  `${atOnce(lines(document, 1, levels))}\n`

/** Whether all of it is read at a glance, in one line. */
const isShort = (value: Json, depth: number): boolean => depth <= 2 && JSON.stringify(value).length <= 160

function* lines(value: Json, depth: number, levels: Readonly<Record<string, number>> = {}): Sliced<string> {
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const below = levels[name] ?? depth - 1
    const text =
      below > 0 && isObject(member) && !isShort(member, below)
        ? yield* lines(member, below)
        : JSON.stringify(member)
    members.push(`${JSON.stringify(name)}: ${text}`)
    yield
  }
  return `{\n${members.join(',\n')}\n}`
}
