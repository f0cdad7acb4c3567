import type { PublicKeySet } from '../ports/public-keys.ts'
import { parseOneMeaning, type SealedEntry } from '../trail/index.ts'

export interface AuditExportHeader {
  readonly type: 'trail'
  readonly version: number
  readonly origin: string
  readonly ownerId: string
  readonly mode: string
  readonly checkpoint: string
  readonly keys: PublicKeySet
}

interface EntryLine extends Omit<SealedEntry, 'leaf'> {
  readonly type: 'entry'
  readonly leaf: string
}

interface HashesLine {
  readonly type: 'hashes'
  readonly from: number
  readonly to: number
  readonly hashes: readonly string[]
}

export type AuditExportLine =
  | AuditExportHeader
  | EntryLine
  | HashesLine
  | { readonly type: 'checkpoint'; readonly checkpoint: string }

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): boolean => typeof value === 'string'

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const isTexts = (value: unknown): boolean => isObject(value) && Object.values(value as object).every(isText)

const isKeySet = (value: unknown): boolean => {
  const { keys } = isObject(value) ? (value as { keys?: unknown }) : {}
  return Array.isArray(keys) && keys.every(isObject)
}

/** These members are checked before any of them is read; other members are ignored. */
const MEMBERS: Readonly<
  Record<AuditExportLine['type'], Readonly<Record<string, (value: unknown) => boolean>>>
> = {
  trail: {
    version: isCount,
    origin: isText,
    ownerId: isText,
    mode: isText,
    checkpoint: isText,
    keys: isKeySet,
  },
  entry: {
    position: isCount,
    leaf: isText,
    entry: value => value === null || isObject(value),
    commitments: isTexts,
    salts: isTexts,
  },
  hashes: {
    from: isCount,
    to: isCount,
    hashes: value => Array.isArray(value) && value.every(isText),
  },
  checkpoint: { checkpoint: isText },
}

export function parseAuditExportLine(text: string): AuditExportLine {
  const line = parseOneMeaning(text) as Readonly<Record<string, unknown>>
  const type = isObject(line) && Object.hasOwn(line, 'type') ? String(line.type) : ''
  const members =
    isText(line?.type) && Object.hasOwn(MEMBERS, type) ? MEMBERS[type as AuditExportLine['type']] : undefined
  if (!members) throw new SyntaxError('This is not a line of an export.')
  const wrong = Object.keys(members).find(name => !(Object.hasOwn(line, name) && members[name]?.(line[name])))
  if (wrong !== undefined) throw new SyntaxError(`${wrong} has a wrong value for a line of this type.`)
  return line as unknown as AuditExportLine
}
