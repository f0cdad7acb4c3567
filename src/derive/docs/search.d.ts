export type SearchKind =
  | 'guide'
  | 'rule'
  | 'section'
  | 'operation'
  | 'part'
  | 'refusal'
  | 'event'
  | 'setting'
  | 'record'

export interface SearchDocument {
  readonly address: string
  readonly kind: SearchKind
  /** The heading under which it is shown. */
  readonly group: string
  readonly title: string
  /** The page that it is a part of, or what else the page is called. */
  readonly page: string
  readonly text: string
  readonly method?: string
  /** What else it is called: queries that are one of these mean it. */
  readonly names?: readonly string[]
  readonly isUsedMost?: boolean
}

export interface FoundPage extends SearchDocument {
  /** Every second piece was met. */
  readonly snippet: readonly string[]
}

export interface Found {
  readonly groups: readonly { readonly title: string; readonly pages: readonly FoundPage[] }[]
  readonly count: number
  /** No page has all words: these have some. */
  readonly isNearest: boolean
}

/** Finds what has an address that begins with `within`. */
export type Search = (query: string, within?: string) => Found

export function createSearch(documents: readonly SearchDocument[]): Search
