import type { Document } from './types.ts'

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How many levels of each part stand on lines of their own: what lies deeper is one line. */
const LEVELS: Readonly<Record<string, number>> = { paths: 2, webhooks: 1, components: 2 }

/** The document as it is committed: one line for each operation, event and component, so that a change shows. */
export const writeDocument = (document: Document): string => `${lines({ ...document }, 1, LEVELS)}\n`

function lines(value: Json, depth: number, levels: Readonly<Record<string, number>> = {}): string {
  const members = Object.entries(value).map(([name, member]) => {
    const below = levels[name] ?? depth - 1
    const text = below > 0 && isObject(member) ? lines(member, below) : JSON.stringify(member)
    return `${JSON.stringify(name)}: ${text}`
  })
  return `{\n${members.join(',\n')}\n}`
}
