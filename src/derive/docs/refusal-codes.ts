import { universalProblems } from '../../kernel/contract/problem.ts'
import type { DocsBook, OperationEntry } from './book.ts'

export interface RefusalCode {
  readonly code: string
  readonly statuses: readonly string[]
  readonly sentences: ReadonlyMap<string, readonly OperationEntry[]>
  readonly isUniversal: boolean
}

export function collectRefusalCodes(book: DocsBook): RefusalCode[] {
  const codes = new Map<string, { statuses: Set<string>; sentences: Map<string, OperationEntry[]> }>()
  for (const [code, [status, message]] of Object.entries(universalProblems))
    codes.set(code, { statuses: new Set([String(status)]), sentences: new Map([[message, []]]) })
  for (const entry of book.entries)
    for (const { code, status, message, universal } of entry.refusals) {
      const known = codes.get(code) ?? { statuses: new Set(), sentences: new Map() }
      codes.set(code, known)
      known.statuses.add(status)
      const entries = known.sentences.get(message) ?? []
      known.sentences.set(message, universal ? entries : [...entries, entry])
    }
  return [...codes]
    .map(([code, { statuses, sentences }]) => ({
      code,
      statuses: [...statuses].toSorted(),
      sentences,
      isUniversal: code in universalProblems,
    }))
    .toSorted((one, other) => one.code.localeCompare(other.code, 'en'))
}

export const REFUSALS_SECTION = { id: 'errors', title: 'Error codes' }

export const refusalAddress = (code: string): string => `/docs/${REFUSALS_SECTION.id}/${code}`
